"""Hill climbing over a grid of parameters, judged by label regression."""

from __future__ import annotations

import numpy as np

from ..solvers.regression import leave_one_out
from .parameter_search import Candidate, Place, Search
from .power_link import class_outputs, fit_power_link, known_outcomes, log_likelihood
from .regression_fit import MIN_SOFTNESS, label_codes


class RegressionSearch(Search):
    """Candidates for label regression: the score is that of left-out points, in closed form."""

    judges_each_output = False

    def evaluate(self, place: Place, near: Place) -> None:
        """Find the score of a candidate."""
        softness = max(self.values(place)[2], MIN_SOFTNESS)
        target, weight = self.data.target[self.rows], self.data.weight
        weight = np.ones(len(self.rows)) if weight is None else weight[self.rows]
        try:
            unit = self._matrix(place)
            found = leave_one_out(unit / softness, label_codes(self.signs), weight, overwrite=True)
        except (ValueError, np.linalg.LinAlgError):  # if they are fixed, the fit raises this error
            return
        known = known_outcomes(target, max(len(self.signs), 2), weight)
        link = fit_power_link(found.outputs, known)
        score = log_likelihood(class_outputs(found.outputs), link, known)[0]
        self.known[place] = Candidate(score, [])
