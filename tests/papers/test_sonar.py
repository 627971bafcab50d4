import numpy as np
from sklearn.utils import Bunch

from bayespoint.papers import sonar
from bayespoint.papers.sonar import ASPECT_TRAIN, load_sonar


def test_split_does_not_depend_on_the_order_of_rows(monkeypatch, rng):
    # The first columns have ties, like the real data.
    X = rng.integers(0, 9, (208, 60)).astype(float)
    y = np.where(X[:, 5] > 4, 1, -1)
    rows = sorted(range(208), key=lambda i: tuple(X[i]))
    bits = f"{int(ASPECT_TRAIN, 16):0208b}"
    expected = [i for i, bit in zip(rows, bits, strict=True) if bit == "1"]
    assert len(expected) == 104
    raw = X[expected]
    for order in (np.arange(208), rng.permutation(208)):
        found = Bunch(X=X[order], y=y[order])
        monkeypatch.setattr(sonar, "load_paper_data", lambda *_, found=found: found)
        X_train, y_train, X_test, y_test = load_sonar(None)
        assert (len(X_train), len(X_test)) == (104, 104)
        again = X_train * raw.std(axis=0) + raw.mean(axis=0)
        assert sorted(map(tuple, again.round(6))) == sorted(map(tuple, raw))
        assert np.array_equal(y_train, np.where(again[:, 5].round(6) > 4, 1, -1))
        assert y_train.sum() + y_test.sum() == y.sum()
        assert np.allclose(X_train.std(axis=0), 1)
