import urllib.error
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.utils import Bunch

from bayespoint.datasets.tables import (
    PAPER_DATA,
    TwoGaussians,
    load_paper_data,
    make_orthant,
    make_teacher,
    make_wedge,
)

N_DRAWS = 20_000
# The squared distance of a mean from the truth is a sum of squares whose mean is its
# squared standard error; in one dimension, the worst case, 4 of them happen 1 in 16,000.
N_ERRORS = 4


def sample_version_space(X, y, rng):
    """Draw uniform directions and keep those that classify every point correctly."""
    kept = []
    while sum(map(len, kept)) < N_DRAWS:
        w = rng.standard_normal((200_000, X.shape[1]))
        w = w[np.all(y * (w @ X.T) > 0, axis=1)]
        kept.append(w / np.linalg.norm(w, axis=1, keepdims=True))
    return np.concatenate(kept)[:N_DRAWS]


def distance_in_errors(draws, direction):
    """Return how far the mean of draws is from a direction, in standard errors."""
    across = draws - np.outer(draws @ direction, direction)
    error = np.sqrt(np.sum(across**2) / len(draws) ** 2)
    return np.linalg.norm(across.mean(axis=0)) / error


@pytest.mark.parametrize("angle", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("n_samples", [2, 15])
def test_bisector_is_the_bayes_point_of_a_wedge(angle, n_samples, rng):
    X, y, bayes_point = make_wedge(angle, n_samples, random_state=0)
    draws = sample_version_space(X, y, rng)
    assert distance_in_errors(draws, bayes_point) < N_ERRORS
    # The wedge is exactly that wide: the outermost of n uniform draws is within
    # 15 spacings of the edge, but for a chance of exp(-15).
    widest = np.arccos(np.clip(draws @ bayes_point, -1, 1)).max()
    assert angle / 2 * (1 - 15 / N_DRAWS) < widest < angle / 2 + 1e-6


@pytest.mark.parametrize("n_features", [2, 3, 6])
def test_diagonal_is_the_bayes_point_of_the_orthant(n_features, rng):
    X, y, bayes_point = make_orthant(n_features)
    draws = sample_version_space(X, y, rng)
    assert distance_in_errors(draws, bayes_point) < N_ERRORS
    assert draws.min() > 0


def test_negative_control_is_seen(rng):
    """A direction a twentieth of the wedge off is told from the Bayes point."""
    X, y, bayes_point = make_wedge(1.0, random_state=0)
    off = bayes_point + 0.05 * np.array([-bayes_point[1], bayes_point[0]])
    off /= np.linalg.norm(off)
    assert distance_in_errors(sample_version_space(X, y, rng), off) > N_ERRORS


def test_teacher_is_uniform_in_version_space(rng):
    """In the plane: the share of the wedge on its left is uniform on [0, 1]."""
    shares = []
    for seed in rng.integers(2**31, size=400):
        X, y, teacher = make_teacher(5, 2, random_state=int(seed))
        walls = y[:, None] * X
        assert (walls @ teacher).min() > 0
        lean = np.arctan2(teacher[0] * walls[:, 1] - teacher[1] * walls[:, 0], walls @ teacher)
        left, right = np.pi / 2 + lean.min(), np.pi / 2 - lean.max()
        shares.append(left / (left + right))
    error = np.sqrt(1 / 12 / len(shares))
    assert abs(np.mean(shares) - 0.5) < N_ERRORS * error


def test_teacher_returns_both_classes_on_the_sphere():
    for seed in range(20):
        X, y, teacher = make_teacher(2, 3, random_state=seed)
        assert set(y) == {-1, 1}
        assert np.allclose(np.linalg.norm(X, axis=1), 1)
        assert np.isclose(np.linalg.norm(teacher), 1)


@pytest.mark.parametrize("make", [lambda s: make_wedge(1.0, 8, s), lambda s: make_teacher(8, 3, s)])
def test_same_seed_same_problem(make):
    assert all(np.array_equal(a, b) for a, b in zip(make(3), make(3), strict=True))
    assert not np.array_equal(make(3)[0], make(4)[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_wedge(0.0), "angle should be between 0 and pi, but is 0.0"),
        (lambda: make_wedge(np.nan), "angle should be between 0 and pi"),
        (lambda: make_wedge(1.0, 1), "n_samples should be at least 2, but is 1"),
        (lambda: make_orthant(1), "n_features should be at least 2, but is 1"),
        (lambda: make_teacher(1, 3), "n_samples should be at least 2, but is 1"),
        (lambda: make_teacher(5, 0), "n_features should be at least 1, but is 0"),
    ],
)
def test_impossible_problems_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.fixture
def folder(tmp_path, rng):
    """A data folder with noise in place of the data."""
    for source in PAPER_DATA.values():
        path = tmp_path / source.file
        path.parent.mkdir(exist_ok=True)
        X = rng.standard_normal(source.shape)
        np.savez(path, X=X, y=np.where(X[:, 0] > 0, 1, -1).astype(np.int8))
    return tmp_path


@pytest.fixture
def no_network(monkeypatch):
    """Make every call of fetch_openml fail, as without a network."""

    def fail(**kwargs):
        raise urllib.error.URLError("no network in tests")

    monkeypatch.delenv("BAYESPOINT_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)


@pytest.mark.parametrize("name", PAPER_DATA)
def test_folder_is_read_as_it_is(name, folder, no_network):
    data = load_paper_data(name, folder)
    stored = np.load(folder / PAPER_DATA[name].file)
    assert data.X.dtype == np.float64
    assert np.array_equal(data.X, stored["X"])
    assert np.array_equal(data.y, stored["y"])
    assert data.y.dtype == int


def test_folder_comes_from_the_environment(folder, no_network, monkeypatch):
    monkeypatch.setenv("BAYESPOINT_DATA", str(folder))
    assert load_paper_data("sonar").X.shape == (208, 60)


def test_argument_comes_before_the_environment(folder, no_network, monkeypatch):
    monkeypatch.setenv("BAYESPOINT_DATA", "/nowhere")
    assert load_paper_data("sonar", folder).X.shape == (208, 60)


def test_missing_file_is_named_and_nothing_is_fetched(tmp_path, no_network):
    with pytest.raises(FileNotFoundError, match=r"no file uci/sonar.npz in the data folder"):
        load_paper_data("sonar", tmp_path)


def test_missing_network_says_what_to_do(no_network):
    with pytest.raises(
        FileNotFoundError,
        match=r"OpenML cannot .*raetsch/heart\.npz by --data",
    ):
        load_paper_data("heart")


def test_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"name should be one of heart, .*, but is 'iris'"):
        load_paper_data("iris")


def test_another_data_set_is_refused(tmp_path, no_network):
    (tmp_path / "uci").mkdir()
    np.savez(tmp_path / "uci/sonar.npz", X=np.ones((3, 2)), y=np.ones(3))
    with pytest.raises(ValueError, match=r"should have shape \(208, 60\), but X has \(3, 2\)"):
        load_paper_data("sonar", tmp_path)


# Classes as OpenML writes them, and the ones that are +1 in the benchmark.
OPENML_CLASSES = {
    "heart": (["absent", "present"], ["present"]),
    "thyroid": (["1", "2", "3"], ["2", "3"]),
    "diabetes": (["tested_positive", "tested_negative"], ["tested_positive"]),
    "waveform": (["0", "1", "2"], ["1"]),
    "banana": (["1", "2"], ["2"]),
    "breast-cancer": (["recurrence-events", "no-recurrence-events"], ["recurrence-events"]),
    "titanic": (["0", "1"], ["1"]),
    "sonar": (["Rock", "Mine"], ["Mine"]),
    "ionosphere": (["g", "b"], ["g"]),
    "wisconsin": (["benign", "malignant"], ["malignant"]),
}
# Incomplete rows at OpenML.
N_INCOMPLETE = {"breast-cancer": 9, "wisconsin": 16}


def imitate_openml(name, rng):
    """Return noise of the shape and with the classes that OpenML has."""
    source = PAPER_DATA[name]
    n_samples, n_features = source.shape
    classes, positive = OPENML_CLASSES[name]
    n_positive = source.n_positive or 1653
    negative = [label for label in classes if label not in positive]
    target = rng.choice(negative, n_samples).astype(object)
    target[rng.choice(n_samples, n_positive, replace=False)] = rng.choice(positive, n_positive)
    # The rarest class occurs, whatever is drawn.
    target[[np.flatnonzero(np.isin(target, positive))[k] for k in range(len(positive))]] = positive
    X = rng.uniform(3, 4, (n_samples, n_features + (19 if name == "waveform" else 0)))
    n_missing = N_INCOMPLETE.get(name, 0)
    gaps = rng.uniform(3, 4, (n_missing, X.shape[1]))
    gaps[:, 0] = np.nan
    order = rng.permutation(n_samples + n_missing)
    target = np.concatenate([target, rng.choice(classes, n_missing).astype(object)])
    return Bunch(data=np.vstack([X, gaps])[order], target=target[order])


@pytest.mark.parametrize("name", PAPER_DATA)
def test_openml_is_brought_to_the_units_of_the_benchmark(name, monkeypatch, no_network, rng):
    source, found = PAPER_DATA[name], imitate_openml(name, rng)

    def fetch(**kwargs):
        assert kwargs["data_id"] == source.openml
        return found

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    data = load_paper_data(name)
    complete = ~np.isnan(found.data[:, 0])
    X, target = found.data[complete][:, : source.shape[1]], found.target[complete]
    assert np.array_equal(data.y, np.where(np.isin(target, OPENML_CLASSES[name][1]), 1, -1))
    if name in ("sonar", "ionosphere", "wisconsin"):
        assert np.array_equal(data.X, X)
    else:
        assert data.X.shape == source.shape
        assert np.allclose(data.X.mean(axis=0), 0)
        # As in the files of the benchmark.
        assert np.allclose(data.X.std(axis=0, ddof=1), 1, rtol=1e-12)


def test_another_data_set_of_openml_is_refused(monkeypatch, no_network, rng):
    found = imitate_openml("heart", rng)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: found)
    found.target[np.flatnonzero(found.target == "absent")[0]] = "present"
    with pytest.raises(ValueError, match=r"120 points of class \+1, but OpenML's .* 53 has 121"):
        load_paper_data("heart")
    found = imitate_openml("heart", rng)
    found.data = found.data[:, :12]
    with pytest.raises(ValueError, match=r"should have shape \(270, 13\), but X has \(270, 12\)"):
        load_paper_data("heart")
    found = imitate_openml("heart", rng)
    found.data, found.target = found.data[1:], found.target
    with pytest.raises(ValueError, match=r"but X has \(269, 13\) and y has \(270,\)"):
        load_paper_data("heart")


def test_nothing_is_said_of_trying_again(monkeypatch, no_network):
    def fail(**_):
        warnings.warn("A network error occurred while downloading. Retrying...", stacklevel=1)
        raise TimeoutError("too slow")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(FileNotFoundError, match="too slow"):
        load_paper_data("sonar")


def density(problem, X, y):
    """Return p(x, y) of 004, eq. 1.6, with 2 pi in place of 2 sigma."""
    mean = problem.mean if y > 0 else problem.other_mean
    return multivariate_normal(mean, problem.covariance).pdf(X) / 2


PROBLEM = TwoGaussians([1.0, 0.2], [-0.5, 0.7], [[1.0, 0.4], [0.4, 0.5]])


def test_discriminant_is_the_logarithm_of_the_odds(rng):
    X = 2 * rng.standard_normal((50, 2))
    odds = density(PROBLEM, X, 1) / density(PROBLEM, X, -1)
    assert np.allclose(X @ PROBLEM.coef + PROBLEM.intercept, np.log(odds))


def test_errors_are_those_of_integration():
    """The density on a grid of 0.02 deviations, out to seven of them."""
    x = np.arange(-8, 8, 0.02)
    points = np.stack(np.meshgrid(x, x), axis=-1)
    positive, negative = density(PROBLEM, points, 1), density(PROBLEM, points, -1)
    assert np.sum(positive + negative) * 0.02**2 == pytest.approx(1, abs=1e-6)
    smallest = np.sum(np.minimum(positive, negative)) * 0.02**2
    assert PROBLEM.bayes_error == pytest.approx(smallest, abs=1e-4)
    assert PROBLEM.error(PROBLEM.coef, PROBLEM.intercept) == pytest.approx(PROBLEM.bayes_error)
    says_positive = points @ [1.0, -0.5] + 0.3 > 0
    wrong = np.sum(np.where(says_positive, negative, positive)) * 0.02**2
    # A cell of the grid at the boundary may be on the wrong side, half of the time each.
    assert PROBLEM.error([1.0, -0.5], 0.3) == pytest.approx(wrong, abs=1e-3)


def test_no_linear_classifier_is_better(rng):
    for _ in range(200):
        assert PROBLEM.error(rng.standard_normal(2), rng.standard_normal()) >= PROBLEM.bayes_error


def test_draws_have_these_means_covariances_and_errors():
    n = 40_000
    X, y = PROBLEM.draw(n, random_state=0)
    assert abs(np.mean(y)) < N_ERRORS / np.sqrt(n)
    for label, mean in ((1, PROBLEM.mean), (-1, PROBLEM.other_mean)):
        here = X[y == label]
        assert np.all(np.abs(here.mean(axis=0) - mean) < N_ERRORS / np.sqrt(len(here)))
        # Products of normal numbers have a variance of at most 2 here.
        off = np.cov(here.T) - PROBLEM.covariance
        assert np.all(np.abs(off) < N_ERRORS * np.sqrt(2 / len(here)))
    wrong = np.mean((X @ [1.0, 1.0] - 0.2 > 0) != (y > 0))
    error = PROBLEM.error([1.0, 1.0], -0.2)
    assert abs(wrong - error) < N_ERRORS * np.sqrt(error / n)
    assert np.array_equal(X, PROBLEM.draw(n, random_state=0)[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TwoGaussians([]), r"shapes \(0,\)"),
        (lambda: TwoGaussians([1.0], [1.0, 2.0]), r"shapes \(1,\), \(2,\) and \(1, 1\)"),
        (lambda: TwoGaussians([1.0], covariance=[1.0]), r"and \(1,\)"),
        (lambda: TwoGaussians([1.0, 0.0], covariance=[[1, 2], [2, 1]]), "positive definite"),
        (lambda: TwoGaussians([1.0, 0.0], covariance=[[1, 0.5], [0, 1]]), "symmetric"),
        (lambda: TwoGaussians([np.nan]), "mean should be finite numbers"),
        (lambda: TwoGaussians([1.0]).draw(0), "n_samples should be at least 1"),
        (lambda: TwoGaussians([1.0]).error([0.0]), "not all zero"),
        (lambda: TwoGaussians([1.0]).error([1.0, 2.0]), "coef should have 1 entries"),
    ],
)
def test_impossible_gaussians_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
