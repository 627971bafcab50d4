"""Predictions of a Bayes point machine: its mean, its probabilities, single hypotheses."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from .._runtime.share_done import advance
from ..fitting.outputs import MosaicHypothesis, outputs
from ..fitting.power_link import PowerLink, power_probabilities
from ..fitting.probabilities import exactly_one, two_classes
from ..geometry.points import canonical
from ._kernel_machine import KernelMachine
from ._labels import drop_single_output, winning_class
from ._losses import least_costly
from ._tables import read_table


class PredictionMixin(KernelMachine):
    """Predictions of a fitted machine for new points, and its hardest examples."""

    classes_: np.ndarray
    dual_coef_: np.ndarray
    draw_coef_: np.ndarray
    chain_coef_: np.ndarray
    diagnostics_: Bunch
    n_jobs: int | None
    link_floor_: float
    cell_centers_: np.ndarray
    landmark_vectors_: np.ndarray
    landmark_coef_: np.ndarray

    @property
    def _link(self) -> PowerLink | None:
        """Return what turns predicted codes into probabilities, after label regression."""
        power = getattr(self, "link_power_", None)
        return None if power is None else PowerLink(power, self.link_floor_)

    def predict(self, X, loss=None):
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        loss : array-like of shape (n_classes, n_classes), default=None
            Costs, with the true class in rows and the decision in columns. The decision with
            the smallest expected cost under `predict_proba` is taken; by default, the class with
            the largest output, which is also the most probable one.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        if loss is None:
            return super().predict(X)
        return self.classes_[least_costly(self.predict_proba(X), loss)]

    def predict_proba(self, X):
        """Return the probability of each class, from the spread of the hypotheses.

        The probability that a random hypothesis, with `softness` as noise, has a positive output
        is F(decision / spread), with one spread for all points (see Notes). With more than two
        classes these are probabilities of each class against the rest, and the result is the
        probability of each class given that exactly one is right. Never exactly 0 or 1.

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
        return self._probabilities(self.probit_scale_ * self._decide(X))

    def sample_decision(self, X, n_samples=None):
        """Return the outputs of single hypotheses drawn from the posterior.

        Hypotheses are unit vectors in the span of the training points, as in the papers. They
        include neither the noise of `softness` nor a part outside the span, about which the
        data say nothing. So the share of positive outputs is not a probability: use
        `predict_proba` for that.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        n_samples : int, default=None
            Number of draws, at most as many as the solver kept; all by default.

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
            Normalized like `decision_function`.
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
        return drop_single_output(np.concatenate(blocks, axis=1))

    def predict_vote(self, X, loss=None):
        """Return the class that most hypotheses vote for.

        The Bayes classification strategy (000, eq. 7): every draw from the posterior classifies
        the point, and the majority wins. In general no single hypothesis predicts like this, not
        even the Bayes point. The hypotheses are the same as in `sample_decision`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        loss : array-like of shape (n_classes, n_classes), default=None
            Costs as in `predict`: the decision with the smallest mean cost over the draws is
            taken, where the vote of a draw counts as the true class.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        check_is_fitted(self)
        votes = []
        for block in self._outputs(X, self.draw_coef_):
            winners = winning_class(block)
            votes.append([np.sum(winners == c, axis=0) for c in range(len(self.classes_))])
        counts = np.concatenate(votes, axis=1).T
        chosen = np.argmax(counts, axis=1) if loss is None else least_costly(counts, loss)
        return self.classes_[chosen]

    def draw_errors(self, X, y):
        """Return the test error of each single hypothesis drawn from the posterior.

        The distribution of these errors tells samplers of version space apart (000, fig. 4; 001,
        fig. 1). With more than two classes, the k-th hypotheses of all classes classify a point
        together.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points; for a precomputed kernel their kernel with the training points.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        ndarray of shape (n_draws,)
            Share of the points that each hypothesis gets wrong.
        """
        check_is_fitted(self)
        y = column_or_1d(y)
        check_consistent_length(X, y)
        winners = [winning_class(block) for block in self._outputs(X, self.draw_coef_)]
        return np.mean(self.classes_[np.concatenate(winners, axis=1)] != y, axis=1)

    def decision_std_error(self, X):
        """Return the sampling error of `decision_function`.

        A prediction is settled if its decision is several standard errors away from zero (with
        more classes, from the decision of the second class): a longer run of the solver would
        not change it. The error comes from the means of independent chains, and is infinite as
        long as they have not mixed.

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
        return drop_single_output(errors)

    def hardest_examples(self, n_examples=25):
        """Return the training points whose walls the hypotheses meet most often.

        They bound version space (002's Bayesian support vectors), and are the hard examples of
        the training set (000, fig. 10).

        Parameters
        ----------
        n_examples : int, default=25
            Number of points to return.

        Returns
        -------
        indices : ndarray of shape (n_examples,)
            Indices of training points, the hardest first.
        hits : ndarray of shape (n_examples,)
            Bounces on the walls of these points, mistakes on them, or with "ep" their
            coefficients, summed over all outputs.
        """
        check_is_fitted(self)
        if n_examples < 1:
            raise ValueError(f"n_examples should be at least 1, but is {n_examples}.")
        if "hits" not in self.diagnostics_:
            raise ValueError(
                "This model was fitted on a cluster, where results of single rows are not kept. "
                "Fit a sample of the rows with the method fit to see hard examples."
            )
        hits = self.diagnostics_.hits.sum(axis=0)
        order = np.argsort(-hits, kind="stable")[:n_examples]
        return order, hits[order]

    def _read_points(self, X):
        """Return the rows of a table as points, as the kernel gets them."""
        return read_table(self, X)

    def _outputs(self, X, coef):
        """Yield the outputs of hypotheses, one block of points at a time.

        Coefficients of shape (n_outputs, n_support) give outputs of shape (n_points, n_outputs);
        (n_outputs, n_draws, n_support) gives (n_draws, n_points, n_outputs).
        """
        check_is_fitted(self)
        yield from self._outputs_at(self._read_points(X), coef)

    def _outputs_at(self, X, coef):
        """Yield the outputs of hypotheses at points, as `_outputs` does at rows of a table."""
        if hasattr(self, "landmark_coef_"):
            yield from self._mosaic_outputs(canonical(X), coef)
            return
        flat = np.ascontiguousarray(coef.reshape(-1, coef.shape[-1]).T)
        n_done, n_points = 0, max(X.shape[0], 1)
        for block in self._kernel_outputs(X, flat, self._single, self.n_jobs):
            n_done += len(block)
            advance(n_done / n_points, "predicting")
            if coef.ndim == 3:
                block = block.reshape(-1, *coef.shape[:2]).transpose(2, 0, 1)
            yield block

    def _mosaic_outputs(self, X, coef):
        """Yield the outputs of hypotheses with a global part on landmarks.

        Draws are differences from the mean hypothesis, on the landmarks alone.
        """
        mosaic = self._mosaic()
        mean = mosaic.outputs(X, self._single, self.n_jobs)
        if coef.ndim == 2:
            yield mean
            return
        flat = np.ascontiguousarray(coef.reshape(-1, coef.shape[-1]).T)
        kernel, start = mosaic.kernel, 0
        for off in outputs(kernel, X, mosaic.landmarks, flat, self._single, self.n_jobs):
            block = mean[start : start + len(off)]
            start += len(off)
            yield off.reshape(-1, *coef.shape[:2]).transpose(2, 0, 1) + block

    def _mosaic(self) -> MosaicHypothesis:
        """Return the mean hypothesis of a mosaic."""
        return MosaicHypothesis(
            self._fitted_kernel(),
            self.cell_centers_,
            self.support_vectors_,
            np.ascontiguousarray(self.dual_coef_.T),
            self.landmark_vectors_,
            self.landmark_coef_,
        )

    def _decide(self, X):
        check_is_fitted(self)
        return np.concatenate(list(self._outputs(X, self.dual_coef_)))

    def _probabilities(self, outputs):
        """Return class probabilities from standardized outputs, or from predicted codes."""
        if self._link is not None:
            return power_probabilities(outputs, self._link)
        law = {"df": self.probit_df_, "label_noise": self.label_noise_}
        if len(self.classes_) == 2:
            return two_classes(outputs[:, 0], **law)
        return exactly_one(outputs, **law)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.allow_nan = self.kernel != "precomputed"
        return tags
