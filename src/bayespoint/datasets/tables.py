"""Toy problems with a known Bayes point, and the data sets of the papers."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from sklearn.utils import Bunch, check_random_state

# The environment variable that names the folder with the papers' data.
DATA_VARIABLE = "BAYESPOINT_DATA"

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Source(NamedTuple):
    """Where a data set is found: in the data folder, or at OpenML."""

    file: str
    shape: tuple[int, int]
    openml: int
    positive: tuple[int, ...]  # classes that become +1, counted in sorted order
    n_positive: int | None  # points of these classes; None where OpenML has another draw
    standardize: bool  # the folder's files are standardized already, OpenML's are not


# 000 does not say in which units it used sonar and ionosphere. Raw, as here, they show the
# same winners as in its table 1; standardized, neither does (100 splits). OpenML's
# waveform-5000 is another draw of the waves, with 19 columns of noise after the 21.
PAPER_DATA = {
    "heart": _Source("raetsch/heart.npz", (270, 13), 53, (1,), 120, True),
    "thyroid": _Source("raetsch/thyroid.npz", (215, 5), 40682, (1, 2), 65, True),
    "diabetes": _Source("raetsch/diabetes.npz", (768, 8), 37, (1,), 268, True),
    "waveform": _Source("raetsch/waveform.npz", (5000, 21), 60, (1,), None, True),
    "banana": _Source("raetsch/banana.npz", (5300, 2), 1460, (1,), 2376, True),
    "breast-cancer": _Source("raetsch/breast-cancer.npz", (277, 9), 13, (1,), 81, True),
    "titanic": _Source("raetsch/titanic.npz", (2201, 3), 40704, (1,), 711, True),
    "sonar": _Source("uci/sonar.npz", (208, 60), 40, (0,), 111, False),
    "ionosphere": _Source("uci/ionosphere.npz", (351, 34), 59, (1,), 225, False),
    "wisconsin": _Source("uci/breast_cancer_wisconsin.npz", (683, 9), 15, (1,), 239, False),
}


def make_wedge(angle: float, n_samples: int = 10, random_state=None) -> Problem:
    """Make a problem in the plane whose version space is a wedge.

    Parameters
    ----------
    angle : float
        Opening of the wedge in radians, between 0 and pi.
    n_samples : int, default=10
        Number of points, at least 2. Two of them bound the wedge, the others say
        nothing new.
    random_state : int, RandomState instance or None, default=None
        Seed of the direction of the wedge and of the points.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Points.
    y : ndarray of shape (n_samples,)
        Labels, -1 and +1.
    bayes_point : ndarray of shape (2,)
        The bisector of the wedge, of unit length, for a linear kernel without intercept.

    Examples
    --------
    >>> X, y, bayes_point = make_wedge(angle=0.5, random_state=0)
    >>> bool((y * (X @ bayes_point)).min() > 0)
    True
    """
    if not 0 < angle < np.pi:
        raise ValueError(f"angle should be between 0 and pi, but is {angle!r}.")
    _check_at_least("n_samples", n_samples, 2)
    rng = check_random_state(random_state)
    # Walls may lean against the bisector by as much as this without cutting the wedge.
    steepest = (np.pi - angle) / 2
    lean = np.concatenate([[steepest, -steepest], rng.uniform(-steepest, steepest, n_samples - 2)])
    middle = rng.uniform(0, 2 * np.pi)
    walls = np.column_stack([np.cos(middle + lean), np.sin(middle + lean)])
    y = np.where(np.arange(n_samples) % 2, -1, 1)
    X = walls * (y * rng.uniform(0.5, 2.0, n_samples))[:, None]
    return X, y, np.array([np.cos(middle), np.sin(middle)])


def make_orthant(n_features: int) -> Problem:
    """Make a problem whose version space is the positive orthant.

    Parameters
    ----------
    n_features : int
        Number of features, and of points; at least 2.

    Returns
    -------
    X : ndarray of shape (n_features, n_features)
        The unit vectors of the axes, those of class -1 reversed.
    y : ndarray of shape (n_features,)
        Labels, +1 and -1 in turn.
    bayes_point : ndarray of shape (n_features,)
        The diagonal, of unit length, for a linear kernel without intercept.

    Examples
    --------
    >>> X, y, bayes_point = make_orthant(4)
    >>> bayes_point
    array([0.5, 0.5, 0.5, 0.5])
    """
    _check_at_least("n_features", n_features, 2)
    y = np.where(np.arange(n_features) % 2, -1, 1)
    return np.diag(y.astype(float)), y, np.full(n_features, 1 / np.sqrt(n_features))


def make_teacher(n_samples: int, n_features: int, random_state=None) -> Problem:
    """Make points on the unit sphere, labeled by a random teacher.

    Parameters
    ----------
    n_samples : int
        Number of points, at least 2; both classes occur.
    n_features : int
        Number of features.
    random_state : int, RandomState instance or None, default=None
        Seed of the points and of the teacher.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points.
    y : ndarray of shape (n_samples,)
        Labels, -1 and +1.
    teacher : ndarray of shape (n_features,)
        The direction that labels them, of unit length. Given the points it is uniform in
        version space: the mean over all teachers with these labels is the Bayes point.
    """
    _check_at_least("n_samples", n_samples, 2)
    _check_at_least("n_features", n_features, 1)
    rng = check_random_state(random_state)
    while True:
        X = rng.standard_normal((n_samples, n_features))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        teacher = rng.standard_normal(n_features)
        y = np.where(X @ teacher > 0, 1, -1)
        if abs(y.sum()) < n_samples:
            return X, y, teacher / np.linalg.norm(teacher)


class TwoGaussians:
    """Two equally probable classes, normal with the same covariance: all is known.

    The best classifier is linear, and the error of every linear classifier has a closed
    form: for tests of bounds, and for examples.

    Parameters
    ----------
    mean : array-like of shape (n_features,)
        Mean of class +1.
    other_mean : array-like of shape (n_features,), default=None
        Mean of class -1; by default that of class +1 reversed.
    covariance : array-like of shape (n_features, n_features), default=None
        Covariance of both, positive definite; the identity by default.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Weights of the best classifier.
    intercept : float
        Its intercept. <coef, x> + intercept is the logarithm of the odds of class +1.
    bayes_error : float
        Its error; no classifier has a smaller one.

    References
    ----------
    Smola, Bartlett, Schölkopf, Schuurmans (2000), Introduction to large margin classifiers,
    example 1.1 and eq. 1.9 (its density, eq. 1.6, should have 2 pi in place of 2 sigma).

    Examples
    --------
    >>> from bayespoint.datasets import TwoGaussians
    >>> problem = TwoGaussians([1.0, 0.0])
    >>> X, y = problem.draw(100, random_state=0)
    >>> round(problem.bayes_error, 4)
    0.1587
    >>> round(problem.error([1.0, 1.0]), 4)  # 45 degrees off
    0.2398
    """

    def __init__(self, mean, other_mean=None, covariance=None):
        self.mean = _finite("mean", mean)
        self.other_mean = -self.mean if other_mean is None else _finite("other_mean", other_mean)
        n = self.mean.size
        self.covariance = np.eye(n) if covariance is None else _finite("covariance", covariance)
        shapes = self.mean.shape, self.other_mean.shape, self.covariance.shape
        if not n or shapes != ((n,), (n,), (n, n)):
            raise ValueError(
                "The means should have an entry and the covariance a row and a column for each "
                f"feature, but they have the shapes {shapes[0]}, {shapes[1]} and {shapes[2]}."
            )
        try:
            if not np.allclose(self.covariance, self.covariance.T):
                raise np.linalg.LinAlgError
            self._factor = np.linalg.cholesky(self.covariance)
        except np.linalg.LinAlgError:
            raise ValueError(
                "covariance should be symmetric and positive definite, but is not."
            ) from None
        self.coef = np.linalg.solve(self.covariance, self.mean - self.other_mean)
        self.intercept = float(-self.coef @ (self.mean + self.other_mean) / 2)
        distance = float(np.sqrt(self.coef @ (self.mean - self.other_mean)))
        self.bayes_error = float(ndtr(-distance / 2))

    def draw(self, n_samples: int, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw points of both classes, each with probability one half.

        Parameters
        ----------
        n_samples : int
            Number of points, at least 1.
        random_state : int, RandomState instance or None, default=None
            Seed.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Points.
        y : ndarray of shape (n_samples,)
            Labels, -1 and +1; with few points perhaps only one of them.
        """
        _check_at_least("n_samples", n_samples, 1)
        rng = check_random_state(random_state)
        y = rng.choice([-1, 1], n_samples)
        noise = rng.standard_normal((n_samples, len(self.mean)))
        return np.where(y[:, None] > 0, self.mean, self.other_mean) + noise @ self._factor.T, y

    def error(self, coef, intercept: float = 0.0) -> float:
        """Return the error of the classifier sign(<coef, x> + intercept).

        Parameters
        ----------
        coef : array-like of shape (n_features,)
            Weights, not all zero.
        intercept : float, default=0.0
            Intercept.

        Returns
        -------
        float
            Probability that it is wrong.
        """
        coef = _finite("coef", coef).ravel()
        if coef.shape != self.mean.shape or not coef.any():
            raise ValueError(
                f"coef should have {len(self.mean)} entries, not all zero, but is {coef}."
            )
        deviation = np.linalg.norm(coef @ self._factor)
        outputs = coef @ self.mean + intercept, -(coef @ self.other_mean + intercept)
        return float(np.mean(ndtr(-np.array(outputs) / deviation)))


def load_paper_data(name: str, folder: str | os.PathLike | None = None) -> Bunch:
    """Load a data set of the papers.

    Parameters
    ----------
    name : str
        Which one: those of table 1 of the Bayes point machines paper ("heart", "thyroid",
        "diabetes", "waveform", "banana", "sonar", "ionosphere"), and "breast-cancer",
        "titanic" and "wisconsin".
    folder : path, default=None
        Folder with files raetsch/NAME.npz and uci/NAME.npz that hold X and y; by default
        the environment variable BAYESPOINT_DATA. Without either, the data are fetched
        from OpenML and kept by scikit-learn.

    Returns
    -------
    Bunch
        `X` of shape (n_samples, n_features) and `y`, -1 and +1. Sonar, ionosphere and
        wisconsin are raw, the features of the others have mean 0 and variance about 1.
        Rows with missing values are left out.

    Notes
    -----
    Not all of OpenML's copies are identical to the benchmark: thyroid and breast-cancer are
    standardized a little differently, waveform is another draw, banana may have fewer
    digits, and titanic is coded as it is there. A copy with another number of rows, columns
    or points of class +1 is refused.

    References
    ----------
    Herbrich, Graepel, Campbell (2001), Bayes Point Machines, JMLR 1, table 1.
    Rätsch, Onoda, Müller (2001), Soft Margins for AdaBoost, Machine Learning 42.
    """
    if name not in PAPER_DATA:
        raise ValueError(f"name should be one of {', '.join(PAPER_DATA)}, but is {name!r}.")
    source = PAPER_DATA[name]
    folder = folder or os.environ.get(DATA_VARIABLE)
    X, y = _read(source, Path(folder)) if folder else _fetch(name, source)
    if X.shape != source.shape or y.shape != X.shape[:1]:
        raise ValueError(
            f"{name} should have shape {source.shape}, but X has {X.shape} and y has {y.shape}: "
            "this is another data set."
        )
    return Bunch(X=X, y=y)


def _read(source: _Source, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y from a file of the data folder."""
    path = folder / source.file
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {source.file} in the data folder {folder}. Put it there, name "
            f"another folder (argument folder, or {DATA_VARIABLE}), or name none to fetch the "
            "data from OpenML."
        )
    with np.load(path) as data:
        return _complete(data["X"].astype(np.float64), data["y"].astype(int))


def _fetch(name: str, source: _Source) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y from OpenML, in the units of the benchmark."""
    X, labels = fetch_arrays(name, source.openml, f"the file {source.file}")
    _, code = np.unique(labels, return_inverse=True)
    y = np.where(np.isin(code, source.positive), 1, -1)
    X, y = _complete(X.astype(np.float64)[:, : source.shape[1]], y)
    n_positive = np.count_nonzero(y > 0)
    if source.n_positive not in (None, n_positive):
        raise ValueError(
            f"{name} should have {source.n_positive} points of class +1, but OpenML's data set "
            f"{source.openml} has {n_positive}: this is another data set. Name a folder that "
            f"has the file {source.file} by --data or {DATA_VARIABLE}."
        )
    if source.standardize:
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, y


def _complete(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows without missing values; arrays that do not fit are returned as they are."""
    if X.ndim != 2 or y.shape != X.shape[:1]:
        return X, y
    complete = np.isfinite(X).all(axis=1)
    return X[complete], y[complete]


def fetch_arrays(name: str, data_id: int, files: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels, as texts, of a data set of OpenML.

    Parameters
    ----------
    name : str
        What the data set is called here.
    data_id : int
        Its number at OpenML.
    files : str
        What a data folder should have instead, for the message if OpenML is out of reach.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features; categories are counted in the order in which OpenML declares them.
    labels : ndarray of shape (n_samples,)
        Labels as texts.
    """
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # Said once, by the error, if it is of no use to try again.
            warnings.filterwarnings("ignore", "A network error occurred")
            data = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff")
    except OSError as error:
        raise FileNotFoundError(
            f"The data set {name} is missing: there is no data folder, and OpenML cannot be "
            f"reached ({error}). Name a folder with {files} by --data or {DATA_VARIABLE}, or "
            "connect to a network."
        ) from error
    return np.asarray(data.data), np.asarray(data.target, dtype=str)


def _check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} should be at least {least}, but is {value!r}.")


def _finite(name: str, values) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} should be finite numbers, but some are NaN or infinite.")
    return values
