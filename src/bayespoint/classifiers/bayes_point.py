"""BayesPointClassifier: kernel, version space, solver; one against the rest."""

from __future__ import annotations

import time
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .._runtime.interrupt import interrupts
from .._runtime.progress import CallbackSupportMixin, Progress, say, with_callbacks
from .._runtime.threads import one_blas_thread
from ..fitting import gram_fit
from ..fitting.cells_fit import fit_cells
from ..fitting.landmarks_fit import fit_landmarks
from ..fitting.parameters import Choice, Settings, choose
from ..fitting.probabilities import exactly_one, two_classes
from ..fitting.rows_fit import fit_rows
from ..fitting.solver_choice import LOCAL_KERNELS, for_solver, neighborhoods, solver_for_many
from ..fitting.task import Answer, Task
from ..geometry.kernels import GAMMA_KERNELS, KERNELS
from ..solvers import EP, Billiard, Cells, Corners, Gibbs, Nystroem, Perceptron
from ._kernel_machine import KernelMachine

# solver="auto" is "ep" up to so many training points; beyond, left-out points decide.
LARGE = 2000
# Of max_time, what the choice of gamma, softness and so on may take.
SHARE_OF_CHOICE = 0.5
# Points in single precision are not copied to double.
FLOATS = (np.float64, np.float32)
SOLVERS = {
    "billiard": Billiard,
    "cells": Cells,
    "corners": Corners,
    "ep": EP,
    "gibbs": Gibbs,
    "nystroem": Nystroem,
    "perceptron": Perceptron,
}
# A random number in [0, this) seeds the generators of the solvers.
_SEEDS = np.iinfo(np.int32).max


class BayesPointClassifier(CallbackSupportMixin, ClassifierMixin, KernelMachine):
    """Classify by the center of mass of all consistent hypotheses.

    A kernel classifier like `SVC`. Where a support vector machine picks the hypothesis
    of largest margin from all hypotheses that classify the training data correctly
    (version space), the Bayes point machine takes their mean. The spread of these
    hypotheses gives probabilities. Parameters that are "auto" are chosen by how probable
    they make the labels: nothing has to be tuned.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"} or callable, \
            default="rbf"
        Similarity of two points. A callable gets two arrays and returns the matrix of
        k(x, x') between their rows. With "precomputed", X is that matrix.
    gamma : {"auto", "scale"} or float, default="auto"
        Coefficient of poly, rbf, laplacian and sigmoid; rbf is exp(-gamma |x - x'|^2).
        Larger makes the decision boundary more flexible. "scale" is
        1 / (n_features * X.var()), for laplacian 1 / (n_features * X.std()); "auto" is
        chosen around it (in `SVC`, it is 1 / n_features), and equal to it with "perceptron".
    degree : float, default=3
        Degree of poly, (gamma <x, x'> + coef0)^degree.
    coef0 : float, default=1.0
        Constant of poly and sigmoid.
    fit_intercept : bool or "auto", default=True
        Add a constant to the kernel, which lets the decision boundary pass the origin
        of feature space at a distance.
    normalize : bool, default=False
        Scale all points to unit length in feature space: k(x, x') becomes
        k(x, x') / sqrt(k(x, x) k(x', x')).
    solver : {"auto", "ep", "billiard", "gibbs", "corners", "perceptron", "nystroem", "cells"} \
            or solver object, default="auto"
        How to find the center of mass. "ep" approximates the posterior by a Gaussian,
        without sampling; "billiard" and "gibbs" sample it exactly, the billiard much
        faster; "corners" averages the corners of version space, a rough estimate. These
        need the whole kernel matrix. For many points: "perceptron" averages perceptrons that
        learned in different orders, and needs parts of it; "nystroem" is "ep" in the span of
        500 landmarks, for noisy labels; "cells" is "ep" in each of many cells of some 1000
        neighbors, for a boundary with much detail. "auto" is "ep" up to 2000 training points
        if `cache_size` allows ("billiard" where "ep" does not converge). Beyond, it is
        "perceptron" if few points of a sample are wrong when they are left out, else
        "cells" or "nystroem", whichever says more of such points. An object carries its own
        parameters, `solvers.Perceptron(n_members=50)`.
    softness : "auto" or float, default="auto"
        Added to the diagonal of the kernel matrix, relative to it, while training
        (000, eq. 27): the variance of noise on the output. More of it tolerates more
        noise in the labels. 0 insists on classifying every training point correctly; where
        this is impossible "perceptron" warns and keeps the best it found, and other
        solvers raise an error.
    label_noise : "auto" or float, default=0
        Probability that a training label was flipped, wherever its point is (000, eq. 4),
        below one half; softness is noise near the boundary. Not for "perceptron", "nystroem"
        and "corners". "auto" may choose it beside softness, for twice the time of a fit.
    cache_size : float, default=2000
        Megabytes that a fit may take. Solvers need up to 32 m^2 bytes (48 m^2 "corners") for
        the kernel matrix of m training points and its factor, and 32 m for each draw of
        each output. "perceptron" needs 20 m bytes for each member of each output and a copy
        of the training points in single precision, and keeps rows of the kernel matrix
        in what is left; less of it is slower, with the same result. "nystroem" needs 4 m bytes
        for each landmark. An error says so before more is used.
    max_time : float, default=None
        Seconds after which `fit` returns the best answer so far, with a
        `ConvergenceWarning`. If they are not enough to make the kernel matrix of all
        training points ready, a part of them is used.
    warm_start : bool, default=False
        Go on from the last fit on the same data, with "perceptron": members that had to
        stop early learn the rest, and if `n_members` has grown there are more of them.
        The result is that of a single fit. It keeps 20 m bytes for each member of each
        output.
    n_jobs : int, default=None
        Threads, of `fit` and with "perceptron" also of predictions; -1 means all
        processors. Chains and perceptrons run elsewhere if `joblib.parallel_config` says so.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampler; pass an int for the same answer every time.
    verbose : int, default=0
        1 reports what was chosen and the progress of the solver on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients on `support_vectors_` of the mean of the unit-length hypotheses: one
        output for two classes, else one a class.
    intercept_ : ndarray of shape (n_outputs,)
        Constant of each output.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that carry the solution.
    support_vectors_ : array of shape (n_support, n_features)
        These points; without columns for a precomputed kernel.
    draw_coef_ : ndarray of shape (n_outputs, n_draws, n_support)
        Coefficients of single hypotheses of unit length, drawn from the posterior; with
        "perceptron" its members. With "cells" and more outputs of "nystroem" in a common
        unit.
    draw_chains_ : int
        The draws are those of so many chains, one chain after the other.
    chain_coef_ : ndarray of shape (n_outputs, n_chains, n_support)
        Coefficients of the means of the solver's independent chains.
    softness_, label_noise_, gamma_, constant_ : float
        The softness, the label noise, the gamma and the constant term of the kernel that
        were used.
    candidates_ : Bunch
        What "auto" looked at, an entry a candidate: `gamma`, `fit_intercept`, `softness`,
        `label_noise` and `score`: the evidence log p(y) for two classes, for more the
        logarithm of the leave-one-out probability of the right classes. Of at most 600
        training points; with "cells" those around three of them. Empty if nothing had to be
        chosen.
    cell_centers_ : ndarray of shape (n_cells, n_features)
        With "cells": a point belongs to the nearest one.
    log_evidence_ : float
        log p(y) of the training labels, with "ep", "nystroem" and "cells"; for more than two
        classes the sum of those of each class against the rest.
    loo_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each training point as if it had been left out, with "ep", "nystroem"
        and "cells"; NaN for points that were not used.
    n_iter_ : int
        Passes of these over the training points.
    origin_ : ndarray
        The point from which the kernels linear (with an intercept) and rbf measure.
    probit_scale_, probit_df_ : float
        The probability of a class against the rest is F(probit_scale_ * decision), where
        F is the distribution function of Student's t with `probit_df_` degrees of
        freedom; that of the normal distribution if it is infinite.
    diagnostics_ : Bunch
        What the solver reports, an entry an output. Of all: `angle` (estimated angle in
        radians between the answer and that of an endless run: 0 for "ep", whose error is
        another one, and unknown for "corners"), `ess` (effective number of independent
        draws), `mixed` (whether this error can be believed), `hits` (n_outputs,
        n_samples: bounces on the wall of each training point, mistakes on it, or how hard
        it presses), `stop` (why it ended), `seconds`, `resultant` (length of the mean of
        the unit hypotheses). Of "ep", "nystroem" and "cells" (with `n_cells`): `n_iter`,
        `residual` (largest mismatch of moments, in standard deviations), `log_evidence`; they
        stop by "tol", "max_iter" or "stalled", when they come no closer. Of
        "billiard": `r_hat`, `n_bounces`, `length` (of the trajectories),
        `scatter` (one in so many bounces did), `errors` (mean number of training errors);
        it stops by "tol" or "n_bounces", or "escaped" of "herbrich". Of "gibbs": `r_hat`,
        `n_samples`, `errors`. All stop by "max_time", "interrupted" and "callback", too. Of
        "perceptron": `n_mistakes` (n_outputs, n_members), `n_consistent` (members that
        get all training points right), `margin` (the largest found) and `novikoff` (the
        bound on the mistakes that follows), unknown if no member is consistent,
        `n_rows` (rows of the kernel matrix that were computed); it stops when all are
        "consistent", or by "max_mistakes".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X had them.

    Notes
    -----
    Solvers with the whole matrix take up to 32 m^2 bytes and O(m^3) once for the factor of
    the Gram matrix; "ep" O(m^3) for each of some ten passes, a bounce of the billiard O(m),
    a sample of "gibbs" O(m^2 log m). "auto" looks at some ten to twenty candidates, each
    of which takes a short run of "ep" on at most 600 points. Perceptrons take O(m) for each
    mistake and O(m n_features) for each training point that some member gets wrong; "nystroem"
    O(m r^2) for each of some five sweeps with r landmarks, "cells" O(m n^2) with cells of n points.

    Probabilities: with a Gaussian prior on w, the length of its part in the span of the
    training points is chi-distributed and independent of the direction, which is what
    the solver samples, and outside the span w keeps its prior. That gives the output at
    a point a mean and a variance. Taking its own variance for each point was measured
    to be no better than one common variance for all (docs/architecture.md), so that is
    what is done; it also makes probabilities and decisions rank alike. With "ep" it is the
    median variance of left-out training points. With "perceptron" it is fitted to what
    members say of training points that they have not yet seen.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayespoint import BayesPointClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesPointClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _parameter_constraints = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [StrOptions({"auto", "scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean", StrOptions({"auto"})],
        "normalize": ["boolean"],
        "solver": [StrOptions({"auto", *SOLVERS}), HasMethods(["solve"])],
        "softness": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "label_noise": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="left")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "max_time": [Interval(Real, 0, None, closed="right"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="auto",
        degree=3,
        coef0=1.0,
        fit_intercept=True,
        normalize=False,
        solver="auto",
        softness="auto",
        label_noise=0.0,
        cache_size=2000,
        max_time=None,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.normalize = normalize
        self.solver = solver
        self.softness = softness
        self.label_noise = label_noise
        self.cache_size = cache_size
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y):
        """Find the Bayes point of each class against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : BayesPointClassifier
            The fitted classifier.
        """
        self._validate_params()
        if isinstance(self.solver, type):
            raise TypeError(
                f"solver should be an instance, but is a class: pass {self.solver.__name__}()."
            )
        began = time.perf_counter()
        given = X
        X, target = self._check_training_data(X, y)
        signs = self._signs(target)
        # One thread for matrix algebra: its rounding would depend on their number,
        # and the balls and perceptrons have the cores.
        with one_blas_thread(), interrupts() as interrupted:
            rng = np.random.default_rng(check_random_state(self.random_state).randint(_SEEDS))
            deadline = began + (np.inf if self.max_time is None else self.max_time)
            solver, settings = self._choose(X, signs, deadline, interrupted)
            task = Task(
                X=X,
                signs=signs,
                target=target,
                kernel=self._settle_kernel(X, settings.gamma, settings.fit_intercept),
                solver=solver,
                fallback=Billiard() if self.solver == "auto" else None,
                softness=settings.softness,
                may_soften=self.softness == "auto",
                label_noise=settings.label_noise,
                cache_size=self.cache_size,
                copied=_bytes_of_copy(X, given),
                max_time=self.max_time,
                deadline=deadline,
                n_jobs=self.n_jobs,
                rng=rng,
            )
            self._store(task, self._solve(task))
        return self

    def decision_function(self, X):
        """Return the mean output of all hypotheses, between -1 and 1.

        The output of a hypothesis is the cosine of the angle between it and the point
        in feature space (000, sec. 4.3), and the output of the Bayes point their mean:
        comparable between classes, and a confidence. With a
        precomputed kernel the length of a new point is not known; it is taken to be the
        root mean square length of the training points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class if there are two, else largest for the class
            that is predicted.
        """
        return self._squeeze(self._decision(X))

    def predict(self, X):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, those with the largest `predict_proba`.
        """
        winner = self._winner(self._decision(X))
        return self.classes_[winner]

    def predict_proba(self, X):
        """Return the probability of each class, from the spread of the hypotheses.

        The probability that a random hypothesis with `softness` as noise has a positive
        output is F(decision / spread), with one spread for all points (see Notes). With
        more than two classes these are
        the probabilities of each class against the rest, and the result is that of each
        class given that exactly one is right. Never exactly 0 or 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        return self._probabilities(self.probit_scale_ * self._decision(X))

    def sample_decision(self, X, n_samples=None):
        """Return the outputs of single hypotheses drawn from the posterior.

        Hypotheses are unit vectors in the span of the training points, as in the papers.
        What a hypothesis may do outside the span, where the data say nothing, and the
        noise that `softness` stands for, are not in them: the share of positive outputs
        is not a probability, which is what `predict_proba` is for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        n_samples : int, default=None
            Number of draws, at most those that the solver kept; all by default.

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
            Normalised like `decision_function`.
        """
        check_is_fitted(self)
        available = self.draw_coef_.shape[1]
        wanted = available if n_samples is None else n_samples
        if not isinstance(wanted, Integral) or not 1 <= int(wanted) <= available:
            raise ValueError(
                f"n_samples should be a whole number between 1 and {available}, the number of "
                f"draws that were kept, but is {wanted}. Fit with a larger n_draws (or "
                "n_members) of the solver to keep more."
            )
        chosen = np.linspace(0, available - 1, wanted).astype(int)
        blocks = list(self._outputs(X, self.draw_coef_[:, chosen]))
        return self._squeeze(np.concatenate(blocks, axis=1))

    def predict_vote(self, X):
        """Return the class that most hypotheses vote for.

        The Bayes classification strategy (000, eq. 7): every draw from the posterior
        classifies the point, and the majority wins. It is in general not what any single
        hypothesis says, the Bayes point included. The hypotheses are those of
        `sample_decision`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        votes = []
        for block in self._outputs(X, self.draw_coef_):
            winners = self._winner(block)
            counts = [np.sum(winners == c, axis=0) for c in range(len(self.classes_))]
            votes.append(np.argmax(counts, axis=0))
        return self.classes_[np.concatenate(votes)]

    def draw_errors(self, X, y):
        """Return the test error of each single hypothesis drawn from the posterior.

        How they are distributed tells samplers of version space apart (000, fig. 4; 001,
        fig. 1). With more than two classes, hypothesis number k of every class together
        classify a point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_draws,)
            Share of the points that each gets wrong.
        """
        check_is_fitted(self)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        winners = [self._winner(block) for block in self._outputs(X, self.draw_coef_)]
        return np.mean(self.classes_[np.concatenate(winners, axis=1)] != y, axis=1)

    def decision_std_error(self, X):
        """Return the sampling error of `decision_function`.

        A prediction is settled when its decision is several of these away from zero (for
        more classes, from the decision of the second class): a longer run of the solver
        would not change it. The error is that of the mean of independent chains, infinite
        as long as they have not mixed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Standard errors.
        """
        check_is_fitted(self)
        n_chains = self.chain_coef_.shape[1]
        blocks = self._outputs(X, self.chain_coef_)
        spread = [block.std(axis=0, ddof=min(n_chains - 1, 1)) for block in blocks]
        errors = np.concatenate(spread) / np.sqrt(n_chains)
        errors[:, ~self.diagnostics_.mixed | (n_chains < 2)] = np.inf
        return self._squeeze(errors)

    def hardest_examples(self, n_examples=25):
        """Return the training points whose walls the hypotheses meet most often.

        They bound version space (002's Bayesian support vectors), and are the hard
        examples of the training set (000, fig. 10).

        Parameters
        ----------
        n_examples : int, default=25
            How many to return.

        Returns
        -------
        indices : ndarray of shape (n_examples,)
            Indices into the training set, the hardest first.
        hits : ndarray of shape (n_examples,)
            Bounces on the walls of these points, mistakes on them, or with "ep" how hard
            they press, over all outputs.
        """
        check_is_fitted(self)
        if n_examples < 1:
            raise ValueError(f"n_examples should be at least 1, but is {n_examples}.")
        hits = self.diagnostics_.hits.sum(axis=0)
        order = np.argsort(-hits, kind="stable")[:n_examples]
        return order, hits[order]

    def _check_training_data(self, X, y):
        """Return X and the number of the class of each training point."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        check_classification_targets(y)
        X = self._points(X)
        self.classes_, target = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y should hold at least two classes to tell apart, but holds one class: "
                f"{self.classes_[0]!r}."
            )
        return X, target

    def _signs(self, target: np.ndarray) -> np.ndarray:
        """Return the labels of the training points, +1 or -1, one row an output."""
        outputs = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        return np.array([np.where(target == c, 1, -1) for c in outputs], dtype=np.int8)

    def _choose(self, X, signs, deadline: float, interrupted) -> tuple[Any, Settings]:
        """Return a solver, and what the user fixed and evidence chose for it."""
        given = Settings(self.gamma, self.fit_intercept, self.softness, self.label_noise)
        if self.kernel not in GAMMA_KERNELS:
            given = given._replace(gamma=1.0)
        now = time.perf_counter()
        until = now + (deadline - now) * SHARE_OF_CHOICE

        def should_stop(seconds: float) -> bool:
            return bool(interrupted) or time.perf_counter() + seconds > until

        material = (X, signs, partial(self._settle_kernel, X))
        solver, choice = self._named_solver(*signs.shape), None
        if solver is None:
            solver, choice = solver_for_many(*material, given, should_stop)
        if choice is None:
            near = neighborhoods(X) if isinstance(solver, Cells) and "auto" in given else None
            choice = choose(*material, for_solver(given, solver), should_stop, near)
        self._tell(choice, solver, "auto" in given)
        return solver, choice.best

    def _tell(self, choice: Choice, solver, chosen: bool) -> None:
        """Keep the candidates, and say what was chosen."""
        self.candidates_ = Bunch(**(choice if chosen else Choice(choice.best, {})).columns())
        if self.verbose and self.solver == "auto":
            say(f"solver {solver}")
        if self.verbose and chosen and choice.score:
            say(f"{choice}")

    def _named_solver(self, n_outputs: int, m: int):
        """Return the solver that was asked for, or None where the data have to tell."""
        if not isinstance(self.solver, str):
            return self.solver
        if self.solver != "auto":
            return SOLVERS[self.solver]()
        if m <= LARGE and gram_fit.memory(m, n_outputs, EP()) <= self.cache_size:
            return EP()
        if m <= LARGE:
            return Perceptron()
        if self.label_noise not in (0, "auto"):  # which landmarks and perceptrons do not know
            return Cells() if self.kernel in LOCAL_KERNELS else Perceptron()
        return None

    def _solve(self, task: Task) -> Answer:
        """Average hypotheses in the way of the solver."""
        rows_do = isinstance(task.solver, Perceptron)
        at_once = isinstance(task.solver, Cells | Perceptron)  # all outputs
        progress = Progress(self, 1 if at_once else len(task.signs), self.verbose)
        if rows_do:
            previous = getattr(self, "_state", None) if self.warm_start else None
            answer = fit_rows(task, progress, previous, keep_state=self.warm_start)
        elif isinstance(task.solver, Nystroem):
            answer = fit_landmarks(task, progress)
        elif isinstance(task.solver, Cells):
            answer = fit_cells(task, progress)
        else:
            answer = gram_fit.fit_whole(task, progress)
        progress.end()
        return answer

    def _store(self, task: Task, answer: Answer) -> None:
        """Keep what predictions need, as plain arrays and numbers."""
        X, kernel = task.X, task.kernel
        used = np.flatnonzero(
            np.any(answer.coef != 0, axis=0) | np.any(answer.draws != 0, axis=(0, 1))
        )
        carriers = answer.rows if answer.carriers is None else answer.carriers
        self.support_ = carriers[used]
        self._keep_kernel(X, kernel)
        self.dual_coef_ = answer.coef[:, used]
        self.draw_coef_ = answer.draws[:, :, used]
        self.draw_chains_ = answer.draw_chains
        self.chain_coef_ = (
            self.draw_coef_ if answer.chains is answer.draws else answer.chains[:, :, used]
        )
        self.intercept_ = kernel.constant * self.dual_coef_.sum(axis=1)
        self.softness_ = answer.softness
        self.label_noise_ = answer.label_noise
        self.probit_scale_ = answer.probit_scale
        self.probit_df_ = answer.probit_df
        infos = answer.infos
        self.diagnostics_ = Bunch(**{key: np.array([i[key] for i in infos]) for key in infos[0]})
        hits = np.zeros((len(infos), X.shape[0]), dtype=self.diagnostics_.hits.dtype)
        hits[:, answer.rows] = self.diagnostics_.hits
        self.diagnostics_.hits = hits
        self.diagnostics_.resultant = answer.resultant
        for name in ("log_evidence_", "n_iter_", "loo_proba_", "cell_centers_"):
            self.__dict__.pop(name, None)  # of an earlier fit with another solver
        if answer.centers is not None:
            self.cell_centers_ = answer.centers
        if answer.loo is not None:
            self.log_evidence_ = float(self.diagnostics_.log_evidence.sum())
            self.n_iter_ = int(self.diagnostics_.n_iter.max())
            self.loo_proba_ = np.full((X.shape[0], len(self.classes_)), np.nan)
            self.loo_proba_[answer.rows] = self._probabilities(answer.loo)
        self._single = answer.single
        self._state = answer.state

    def _outputs(self, X, coef):
        """Yield the outputs of hypotheses at a block of points at a time.

        For coefficients of shape (n_outputs, n_support), or (n_outputs, n_draws,
        n_support), outputs have the shape (n_points, n_outputs), or (n_draws, n_points,
        n_outputs).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        flat = np.ascontiguousarray(coef.reshape(-1, coef.shape[-1]).T)
        for block in self._kernel_outputs(X, flat, self._single, self.n_jobs):
            if coef.ndim == 3:
                block = block.reshape(-1, *coef.shape[:2]).transpose(2, 0, 1)
            yield block

    def _decision(self, X):
        """Return the decision function with one column an output."""
        check_is_fitted(self)
        return np.concatenate(list(self._outputs(X, self.dual_coef_)))

    def _probabilities(self, outputs):
        """Return class probabilities from standardized outputs."""
        law = {"df": self.probit_df_, "label_noise": self.label_noise_}
        if len(self.classes_) == 2:
            return two_classes(outputs[:, 0], **law)
        return exactly_one(outputs, **law)

    def _winner(self, outputs):
        """Return the index of the class that outputs along the last axis vote for."""
        if len(self.classes_) == 2:
            return (outputs[..., 0] > 0).astype(int)
        return np.argmax(outputs, axis=-1)

    def _squeeze(self, outputs):
        """Drop the last axis where there is one output."""
        return outputs[..., 0] if len(self.classes_) == 2 else outputs


def _bytes_of_copy(X, given) -> int:
    """Return the memory that validation took to convert what the user gave."""
    if sparse.issparse(X):
        return 0 if X is given else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    shared = isinstance(given, np.ndarray) and np.may_share_memory(X, given)
    return 0 if shared else X.nbytes
