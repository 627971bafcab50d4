import numpy as np
import pytest
from sklearn.utils import Bunch

from bayespoint.datasets.paper_data import PAPER_DATA, load_paper_data


@pytest.fixture
def folder(tmp_path, rng):
    """Make a data folder with noise in place of the data."""
    for source in PAPER_DATA.values():
        path = tmp_path / source.file
        path.parent.mkdir(exist_ok=True)
        X = rng.standard_normal(source.shape)
        np.savez(path, X=X, y=np.where(X[:, 0] > 0, 1, -1).astype(np.int8))
    return tmp_path


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
        match=r"OpenML cannot .*raetsch/heart\.npz into a folder and pass folder=",
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


# Classes as OpenML writes them, and those that become +1.
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
# Number of incomplete rows at OpenML.
N_INCOMPLETE = {"breast-cancer": 9, "wisconsin": 16}


def imitate_openml(name, rng):
    """Return noise with the shape and the classes of the OpenML data."""
    source = PAPER_DATA[name]
    n_samples, n_features = source.shape
    classes, positive = OPENML_CLASSES[name]
    n_positive = source.n_positive or 1653
    negative = [label for label in classes if label not in positive]
    target = rng.choice(negative, n_samples).astype(object)
    target[rng.choice(n_samples, n_positive, replace=False)] = rng.choice(positive, n_positive)
    # Make sure that every class occurs.
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
