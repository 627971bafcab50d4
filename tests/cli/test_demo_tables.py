import numpy as np
import pytest

from bayespoint.cli.demo_tables import MAX_TEST_ROWS, TABLES, DemoTable, splits


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_what_their_names_say(name):
    table = TABLES[name]
    _, y = table.load()
    (part,) = splits(table, 1, 0)
    assert len(part.X) == table.n_train
    assert len(part.X_test) == min(MAX_TEST_ROWS, len(y) - table.n_train)
    if "rows" in name:
        assert str(table.n_train) in name
    if "rare" in name:
        assert f"{np.mean(y == 1):.0%}".rstrip("%") in name


def test_only_labels_for_training_are_wrong():
    X = np.arange(2000.0)[:, None]
    y = (X[:, 0] < 1000).astype(int)
    (part,) = splits(DemoTable(lambda: (X, y), 1000, 0.2), 1, 0)
    wrong = part.y != (part.X[:, 0] < 1000)
    # Five standard errors of a share of 0.2 among 1,000.
    assert abs(wrong.mean() - 0.2) < 5 * np.sqrt(0.2 * 0.8 / 1000)
    np.testing.assert_array_equal(part.y_test, part.X_test[:, 0] < 1000)
