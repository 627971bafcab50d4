import uuid

import numpy as np
import pyarrow as pa
import pytest

from bayespoint.io.tables.kinds import Habits, is_id_name, learn_habits, recognize
from bayespoint.io.tables.number_format import NumberFormat

RNG = np.random.default_rng(0)
N = 200
ROWS = np.arange(N)


def found(values, name="x", habits=None, unnamed=False):
    texts = [None if value is None else str(value) for value in values]
    rows = np.arange(len(texts))
    column = pa.chunked_array([pa.array(texts, pa.string())])
    return recognize(name, column, rows, habits or Habits(), unnamed=unnamed)


WORDS = ["good", "bad", "fast", "slow", "cheap", "never", "again", "broken"]
CASES = {
    "number": RNG.normal(size=N),
    "whole numbers": RNG.integers(0, 50, N),
    "large whole numbers": RNG.integers(0, 10**6, N),
    "with words": np.where(RNG.random(N) < 0.05, "k.A.", RNG.normal(size=N).astype(str)),
    "decimal comma": [f"{v:.2f}".replace(".", ",") for v in RNG.normal(size=N)],
    "category": RNG.choice(["a", "b"], N),
    "truth": RNG.choice(["True", "False"], N),
    "signs": RNG.choice(["+", "-"], N),
    "zip": RNG.choice(["01067", "10115"], N),
    "months": RNG.choice(["01", "02", "11"], N),
    "date": [f"2024-{m:02}-{d:02}" for m, d in RNG.integers(1, 13, (N, 2))],
    "text": [" ".join(RNG.choice(WORDS, 6)) for _ in range(N)],
    "uuid": [uuid.UUID(int=int(v)) for v in RNG.integers(0, 2**62, N)],
    "keys": [f"K{v:05}" for v in RNG.permutation(N)],
    "names": [f"{a} {b}" for a, b in zip(RNG.permutation(N), RNG.choice(WORDS, N), strict=True)],
    "index": ROWS,
    "index from one": ROWS + 1,
    "shuffled index": RNG.permutation(N),
    "increasing": np.cumsum(RNG.integers(1, 10**6, N)),
    "constant": ["DE"] * N,
    "empty": [None, "", "NA", "?"] * (N // 4),
}
KINDS = {
    **dict.fromkeys(["number", "whole numbers", "large whole numbers"], "number"),
    **dict.fromkeys(["with words", "decimal comma"], "number"),
    **dict.fromkeys(["category", "truth", "signs", "zip", "months"], "category"),
    **dict.fromkeys(["uuid", "keys", "names", "shuffled index", "increasing"], "identifier"),
    **dict.fromkeys(["index", "index from one"], "index"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_columns_are(case):
    finding = found(CASES[case])
    expected = KINDS.get(case, case)
    assert finding.kind == expected
    left_out = expected in ("identifier", "index", "constant", "empty")
    assert finding.use_as == ("drop" if left_out else expected)
    assert bool(finding.why) == left_out


def test_small_tables_keep_unique_values():
    assert found(["a", "b", "c"]).kind == "category"
    assert found([3, 1, 2]).kind == "number"
    assert found([0, 1, 2, 3], unnamed=True).kind == "index"
    assert found([0, 1, 2, 3], "Unnamed: 0").kind == "index"
    assert found(["r1", "r2", "r3"], unnamed=True).kind == "index"


def test_names_help_to_find_identifiers():
    values = RNG.choice(10**9, N, replace=False)
    assert found(values).kind == "number"
    for name in ("id", "customer_id", "customerId", "Order No", "KEY"):
        assert is_id_name(name)
        assert found(values, name).kind == "identifier"
    for name in ("width", "paid", "humid", "valid", "monkey", "grid", "idea", "volcano"):
        assert not is_id_name(name)
    repeated = found(RNG.integers(0, 50, N), "customer_id")
    assert repeated.use_as == "number"
    assert "--drop customer_id" in repeated.questions[0]


def test_missing_values_are_counted():
    finding = found(["1", "2,5", "-", "NA", "", "7"] * 10)
    assert finding.kind == "number"
    assert finding.missing == pytest.approx(0.5)


def test_the_file_decides_what_a_mark_means():
    values = [f"{v:,}" for v in RNG.integers(1000, 9999, N)]
    american, european = found(values), found(values, habits=Habits(delimiter=";"))
    assert american.format == NumberFormat(".", ",")
    assert european.format == NumberFormat(",")
    assert "--decimal ','" in american.questions[0]
    assert "is read as thousands" in american.questions[0]
    assert "is read as a decimal mark" in european.questions[0]
    points = [v.replace(",", ".") for v in values]
    assert found(points).format == NumberFormat()
    assert found(points, habits=Habits(certain=",")).format == NumberFormat(",", ".")
    table = pa.table({"a": ["1,5", "2,25"], "b": ["x", "y"], "c": ["1.234", "2.345"]})
    assert learn_habits(table, None, ",").certain == ","
    assert learn_habits(table.select(["b", "c"]), None, ",").certain is None


def test_a_given_mark_does_not_ruin_columns_with_another_one():
    whole = [f"{v:,}".replace(",", ".") for v in RNG.integers(10_000, 99_999, N)]
    commas = [f"{v:.2f}".replace(".", ",") for v in RNG.normal(size=N)]
    habits = Habits(decimal=".", certain=",", delimiter=";")
    assert found(whole, habits=habits).format == NumberFormat(".")
    assert found(commas, habits=habits).format == NumberFormat(",")
    assert found(commas, habits=habits).use_as == "number"


def test_days_come_first_where_commas_are_decimal():
    values = [f"{a:02}/{b:02}/2024" for a, b in RNG.integers(1, 13, (N, 2))]
    american, european = found(values), found(values, habits=Habits(certain=","))
    assert american.format.format == "%m/%d/%Y"
    assert european.format.format == "%d/%m/%Y"
    assert "--date 'x=%d/%m/%Y'" in american.questions[0]


def test_mixed_units_are_asked_about():
    finding = found(["5 kg", "7 kg", "9 kg", "300 g", "200 g"] * 10)
    assert finding.kind == "category"
    assert "holds numbers, but also" in finding.questions[0]
