"""BayesPointClassifier: kernel, version space, solver; one class against the rest."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..fitting.solver_choice import SOLVERS
from ..geometry.kernels import KERNELS
from ._compact import CompactMixin
from ._incremental import IncrementalMixin
from ._kernel_machine import KernelMachine
from ._novelty import NoveltyMixin

# With more, labels say nothing, and probabilities of classes are equal up to rounding.
MAX_SOFTNESS = 1e10


class BayesPointClassifier(CompactMixin, IncrementalMixin, NoveltyMixin):
    """Classify by the center of mass of all consistent hypotheses.

    A kernel classifier like `SVC`. Many hypotheses classify the training data correctly; together
    they are version space. A support vector machine picks the one of largest margin. The Bayes
    point machine takes their mean, and their spread gives probabilities. Parameters that are
    "auto" are chosen by how probable they make the labels: nothing has to be tuned.

    Parameters
    ----------
    kernel : {"auto", "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"} or \
            callable, default="auto"
        Similarity of two points. "auto" is a sum of rbf and laplacian kernels of the
        standardized columns, of their ranks, and of equal codes in columns with few values.
        Left-out points choose its weights and widths (see Notes). For sparse X, a given gamma,
        the solvers "perceptron", "nystroem" and "cells", or a hard boundary or label noise with
        more than 2000 training points, "auto" is "rbf". A callable gets two arrays and returns
        the matrix of k(x, x') between their rows. With "precomputed", X is that matrix.
    gamma : {"auto", "scale"} or float, default="auto"
        Coefficient of poly, rbf, laplacian and sigmoid; rbf is exp(-gamma |x - x'|^2). Larger
        makes the decision boundary more flexible. "scale" is 1 / (n_features * X.var()), for
        laplacian 1 / (n_features * X.std()). "auto" chooses a value around it.
    degree : float, default=3
        Degree of poly, (gamma <x, x'> + coef0)^degree.
    coef0 : float, default=1.0
        Constant of poly and sigmoid.
    fit_intercept : bool or "auto", default=True
        Add a constant to the kernel: the boundary need not pass through feature space's origin.
    normalize : bool, default=False
        Scale points to unit length in feature space: k(x, x') / sqrt(k(x, x) k(x', x')).
    categorical_features : "from_dtype", None or array-like of {bool, int, str}, \
            default="from_dtype"
        Columns whose values are categories: a mask, column numbers, or names of columns.
        "from_dtype" takes columns of text and pandas categoricals; an ordered categorical counts
        as numbers 0, 1, 2, ... None takes none. Each category becomes a feature that is 0 or
        1, so that rbf and laplacian ask only whether two categories are equal.
    standardize : bool or "auto", default="auto"
        Subtract the mean of each column of numbers and divide by its standard deviation (sparse
        columns are only divided). "auto" does it for dense X with kernel="auto": the named
        kernels, and a gamma that is given, are for the numbers as they are.
    solver : {"auto", "regression", "ep", "billiard", "gibbs", "corners", "mosaic", \
            "perceptron", "nystroem", "cells"} or solver object, default="auto"
        How to find the center of mass. These need the whole kernel matrix: "regression" takes
        the labels as numbers, which has a closed form for all classes at once; "ep" approximates
        the posterior by a Gaussian, without sampling; "billiard" and "gibbs" sample it exactly,
        the billiard much faster; "corners" averages the corners of version space, roughly.
        These are for many points: "mosaic" is "regression" in cells of up to 2000 neighbors that
        landmarks join; "perceptron" averages perceptrons that learned in different orders, for
        clean labels; "nystroem" is "ep" in the span of 500 landmarks; "cells" is "ep" in cells.
        "auto" with kernel="auto" is "regression" up to 10,000 training points if `cache_size`
        allows, and "mosaic" for more dense points. Otherwise it is "ep" up to 2000 points
        ("billiard" where it does not converge), then left-out points decide between the last
        four. An object carries its own parameters: `solvers.Perceptron(n_members=50)`.
    softness : "auto" or float, default="auto"
        Added to the diagonal of the kernel matrix, relative to it, during training (000,
        eq. 27): the variance of noise on the output. More of it tolerates more noise in the
        labels, up to 1e10. With 0 every training point must be classified correctly; where this is
        impossible "perceptron" warns, and other solvers raise an error.
    label_noise : "auto" or float, default=0
        Probability, below one half, that a training label was flipped, wherever its point is
        (000, eq. 4). Softness, in contrast, is noise near the boundary. "perceptron", "nystroem"
        and "corners" do not support it. "auto" chooses it too, in twice the time.
    class_weight : dict or "balanced", default=None
        Weight of each class, by which sample weights are multiplied once all parameters are
        chosen. "balanced" gives all classes the same total weight.
    cache_size : float, default=2000
        Megabytes that a fit may use; an error is raised before more is used. For m training
        points most solvers need up to 32 m^2 bytes for the kernel matrix and its factor
        ("corners" 48 m^2, "regression" 8 m^2 beyond 2000 points), and 32 m for each draw of each
        output. "mosaic" needs about 0.6 GB for each thread, with
        more than 64 features up to all of it. "perceptron" needs 20 m bytes
        for each member of each output and a copy of the training points in single precision; it
        stores rows of the kernel matrix in the rest. "nystroem" needs 4 m bytes for each landmark.
    max_time : float, default=None
        Seconds after which `fit` returns the best answer so far, with a `ConvergenceWarning`. If
        this is too short for all training points, a part of them is used.
    warm_start : bool, default=False
        With "perceptron": continue from the last fit on the same data. Members that stopped
        early learn the rest, and a larger `n_members` adds new ones. This keeps all members.
    n_jobs : int, default=None
        Number of threads; -1 means all processors. `joblib.parallel_config` can send chains and
        perceptrons elsewhere. The result does not depend on it. With None, predictions in double
        precision leave threads to BLAS, which may change the last digits.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampler; pass an int for the same answer every time.
    verbose : int, default=0
        1 reports on standard error what was chosen and how far the solver is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Coefficients on `support_vectors_` of the mean of the unit-length hypotheses: one output
        for two classes, otherwise one for each class.
    intercept_ : ndarray of shape (n_outputs,)
        Constant of each output.
    support_ : ndarray of shape (n_support,)
        Indices of the training points that have coefficients.
    support_vectors_ : array of shape (n_support, n_features)
        These points, as `columns_` maps them; without columns for a precomputed kernel.
    draw_coef_ : ndarray of shape (n_outputs, n_draws, n_support)
        Coefficients of single hypotheses of unit length, drawn from the posterior; with
        "perceptron" its members. With "regression" and "cells", and with "nystroem" for several
        outputs, they share one unit of length. With "mosaic" they are differences from the
        mean, on `landmark_vectors_`.
    draw_chains_ : int
        Number of chains that the draws come from.
    chain_coef_ : ndarray of shape (n_outputs, n_chains, n_support)
        Coefficients of the means of the solver's independent chains; with "mosaic" as draws.
    kernel_ : str or callable
        The kernel that was used; "mixture" if kernel="auto" chose a sum of kernels.
    mixture_ : Mixture
        The terms of this sum with their `names`, `weights` and `gammas`; otherwise None.
    relevance_ : ndarray of shape (n_features_in_,)
        With a mixture: the scale of each column of X, mean about one; one if none was learned.
    softness_, label_noise_, gamma_, constant_ : float
        Values that were used; `constant_` is the constant term of the kernel.
    candidates_ : Bunch
        What "auto" tried, one entry for each candidate: `gamma`, `fit_intercept`, `softness`,
        `label_noise` and `score`. The score is the evidence log p(y) for two classes, otherwise
        the log leave-one-out probability of the right classes, as always with "regression". It
        is computed on at most 600 training points (1000 for a mixture), with "cells" on the
        neighbors of three points. Empty if there was nothing to choose.
    cell_centers_ : ndarray of shape (n_cells, n_features)
        With "cells" and "mosaic": a point, times `relevance_`, belongs to the nearest center.
    landmarks_, landmark_vectors_ : ndarray of shape (n_landmarks,), (n_landmarks, n_features)
        With "mosaic": indices of the landmarks, and the points themselves.
    landmark_coef_ : ndarray of shape (n_cells, n_outputs, n_landmarks)
        With "mosaic": coefficients on all landmarks, in addition to those on the cell's points.
    log_evidence_ : float
        log p(y) of the training labels, with several classes the sum over each against the rest.
        With "regression" and "mosaic" the log density of the labels as numbers.
    loo_proba_ : ndarray of shape (n_samples, n_classes)
        Probabilities of each training point as if it had been left out, with "regression",
        "mosaic", "ep", "nystroem" and "cells"; NaN for points that were not used.
    n_iter_ : int
        Passes of "ep", "nystroem" and "cells" over the training points.
    origin_ : ndarray
        The point from which the kernels linear (with an intercept) and rbf measure.
    probit_scale_, probit_df_ : float
        The probability of a class against the rest is F(probit_scale_ * decision). F is the
        distribution function of Student's t with `probit_df_` degrees of freedom, or of the
        normal distribution if they are infinite. With label regression, probit_scale_ * decision
        plus 1 / n_classes estimates the probability of a class.
    link_power_, link_floor_ : float
        With label regression: probabilities are proportional to this power of that estimate, which
        the floor keeps positive.
    compaction_ : Bunch
        Of a model that `compact` made: `tol`, `n_support` (points before), and `change`, the
        largest change of a probability of its training points.
    choice_due_ : bool
        Whether `choose_again` should choose parameters anew after `partial_fit` or `forget`.
    diagnostics_ : Bunch
        What the solver reports for each output (docs/diagnostics.md).
    columns_ : Columns
        How columns of X become features of points; `columns_.groups` has the column of each
        feature, `columns_.names(feature_names_in_)` its name. None for a precomputed kernel.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of columns of X, and their names, if X had them.

    Notes
    -----
    Missing values: NaN, None and pandas.NA. In a column of numbers they are replaced by the
    training median, and marked by a feature of their own if values were missing in training. In a
    column of categories missing is one more category. New categories differ from all others.

    Mixture: kernel="auto" is constant + sum_k a_k exp(-g_k d_k(x, x')). The distances d_k are
    the squared and the absolute distance (this one twice, with a wide and a narrow reach) of the
    standardized columns, both distances of their ranks, and the number of columns with at most
    12 values in which two rows differ. The log probability of left-out training points, in
    closed form, chooses constant, a_k, g_k and the noise with gradients (docs/notes/mixture.md).

    Weights: with "regression", "mosaic", "ep", "nystroem" and "cells" the likelihood of a row is
    taken to the power of its weight: a posterior that is not uniform (002, sec. 18.4). With
    "perceptron" its softness is divided by it. Other solvers, and hard boundaries, count any
    positive weight as 1. With "perceptron", "nystroem", "cells" and "mosaic" equal rows are one
    point, and random choices go by the content of rows, so the order of rows does not matter.

    Time for m training points: the Gram matrix and its factor take O(m^3) once. "regression"
    takes this a few times for all classes together, "ep" for each class about ten times; a
    bounce of the billiard takes O(m), a sample of "gibbs" O(m^2). "auto" tries ten to twenty
    candidates on at most 600 points, for a mixture about 28 on up to 1000, three times beyond
    2000 training points. "mosaic" takes O(m (r^2 + n^2)) for r landmarks and cells of n points,
    perceptrons O(m) for each mistake and O(m n_features) for each point that some member gets
    wrong, "nystroem" O(m r^2) for each of about five sweeps, "cells" O(m n^2).

    Decisions: the output of a hypothesis is the cosine of the angle between it and the point in
    feature space (000, sec. 4.3). `decision_function` is the mean over all hypotheses, between -1
    and 1. The length of a new point, unknown with a precomputed kernel, is taken to be the root
    mean square length of the training points.

    Probabilities: with a Gaussian prior on w, the length of its part in the span of the training
    points is chi-distributed, independent of the direction, which the solver samples. Outside
    the span w keeps its prior. This gives the output at a point a mean and a variance. One
    variance for all points is as good as one for each (docs/notes/probabilities.md), and makes
    probabilities and decisions rank alike. With "ep" it is the median variance of left-out
    points, scaled for several classes; with "perceptron" it is fitted to outputs of members at
    points that they have not yet seen.

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
        **KernelMachine._parameter_constraints,
        "kernel": [StrOptions({"auto", *KERNELS}), callable],
        "solver": [StrOptions({"auto", *SOLVERS}), HasMethods(["solve"])],
        "softness": [StrOptions({"auto"}), Interval(Real, 0, MAX_SOFTNESS, closed="both")],
        "label_noise": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "standardize": ["boolean", StrOptions({"auto"})],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "max_time": [Interval(Real, 0, None, closed="right"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        kernel="auto",
        *,
        gamma="auto",
        degree=3,
        coef0=1.0,
        fit_intercept=True,
        normalize=False,
        solver="auto",
        softness="auto",
        label_noise=0.0,
        class_weight=None,
        categorical_features="from_dtype",
        standardize="auto",
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
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.standardize = standardize
        self.cache_size = cache_size
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Find the Bayes point of each class against the rest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; the kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: zero is the same as removing the row, two the same as
            repeating it. See Notes for solvers that ignore positive weights.

        Returns
        -------
        self : BayesPointClassifier
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)
