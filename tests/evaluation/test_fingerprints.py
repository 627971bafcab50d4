"""Fingerprints find every training row, take few others for one, and tell nothing else."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binom

from bayespoint.evaluation import fingerprints as module
from bayespoint.evaluation.fingerprints import MAX_KEPT, Fingerprints, fingerprint, number_codes

pd = pytest.importorskip("pandas")

SALT = bytes(range(16))
numbers = st.floats(allow_nan=True, allow_infinity=False)
texts = st.one_of(st.none(), st.text(max_size=5))
tables = st.lists(st.tuples(numbers, texts, numbers), min_size=1, max_size=8)


def table_of(rows):
    frame = pd.DataFrame(rows, columns=["b", "a", "c"])
    return frame.astype({"b": float, "a": object, "c": float})


@settings(max_examples=60, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_no_training_row_is_missed_in_any_order(rows, random):
    known = Fingerprints.empty().add(trained=table_of(rows))
    random.shuffle(rows)
    again = table_of(rows)[random.sample(["a", "b", "c"], 3)]
    assert known.look(again).trained.all()
    assert Fingerprints.from_dict(known.to_dict()).look(again).trained.all()


@given(numbers, st.floats(width=32, allow_infinity=False))
def test_the_spelling_and_precision_of_a_number_do_not_matter(value, short):
    for same in (float(repr(value)), float(f"{value:.17e}"), np.float64(value)):
        assert number_codes([same]) == number_codes([value])
    assert number_codes(np.array([short], np.float32)) == number_codes([short])


def test_numbers_of_single_precision_and_with_fifteen_digits_are_the_same(rng):
    values = rng.normal(size=1000)
    np.testing.assert_array_equal(number_codes(values.astype(np.float32)), number_codes(values))
    shorter = np.array([float(f"{value:.15g}") for value in values])
    assert not np.array_equal(shorter, values)
    np.testing.assert_array_equal(number_codes(shorter), number_codes(values))


def test_different_values_have_different_codes():
    values = [0.0, 1.0, 0.1, 0.2, 1e300, 2e300, 1e-300, 2**40 + 1.0, 2**40 + 2.0, np.nan, -1.0]
    assert len(np.unique(number_codes(values))) == len(values)
    assert number_codes([-0.0]) == number_codes([0.0])


def test_every_value_of_a_row_counts(rng):
    X = rng.normal(size=(50, 4))
    known = Fingerprints.empty().add(trained=X)
    for column in range(4):
        other = X.copy()
        other[:, column] += 1
        assert not known.look(other).trained.any()
    table = pd.DataFrame({"x": [1.0, 1.0], "town": ["Ulm", None]})
    known = Fingerprints.empty().add(trained=table)
    assert not known.look(table.assign(town=["Köln", "None"])).trained.any()


def test_kinds_of_tables(rng):
    X = rng.integers(0, 3, (30, 6)).astype(float)
    dense = fingerprint(X, SALT)
    np.testing.assert_array_equal(dense, fingerprint(X.astype(np.int64), SALT))
    by_name = pd.DataFrame(X, columns=list("abcdef"))
    np.testing.assert_array_equal(dense, fingerprint(by_name, SALT))
    nullable = by_name.astype("Int64")
    np.testing.assert_array_equal(dense, fingerprint(nullable, SALT))
    matrix = sparse.csr_array(X)
    wide = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(30, 900))
    for same in (sparse.coo_array(X), sparse.csc_array(X), wide):
        np.testing.assert_array_equal(fingerprint(matrix, SALT), fingerprint(same, SALT))
    words = np.array([["a", "b"], ["a", "c"]], dtype=object)
    assert len(np.unique(fingerprint(words, SALT))) == 2
    categories = pd.DataFrame(words).astype("category")
    np.testing.assert_array_equal(fingerprint(words, SALT), fingerprint(categories, SALT))


def test_new_rows_are_taken_for_training_rows_as_rarely_as_stated(rng, monkeypatch):
    # With two bytes, false alarms are frequent enough to count them.
    monkeypatch.setattr(module, "FINGERPRINT_DTYPE", np.dtype("<u2"))
    monkeypatch.setattr(module, "N_FINGERPRINTS", 2**16)
    known = Fingerprints(SALT, np.empty(0, "<u2"), np.empty(0, "<u2"), 2**16)
    known = known.add(trained=rng.normal(size=(3000, 2)))
    n_rows, rate = 20_000, known.false_positive_rate
    found = known.look(rng.normal(size=(n_rows, 2))).trained.sum()
    assert rate == pytest.approx(3000 / 2**16, rel=0.05)  # some of the 3000 are equal
    low, high = binom.ppf([1e-6, 1 - 1e-6], n_rows, rate)
    assert low <= found <= high


def test_a_bounded_number_is_kept_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr(module, "MAX_KEPT", 100)
    X = rng.normal(size=(1000, 2))
    known = Fingerprints.empty()
    for part in np.split(X, 10):
        known = known.add(trained=part)
    assert len(known.trained) <= 100
    look = known.look(X)
    assert look.trained.sum() == look.checked.sum() > 0  # whatever is checked is found
    assert not known.look(rng.normal(size=(1000, 2))).trained.any()
    assert math.log2(known.limit).is_integer()


def test_held_out_rows_are_known_apart(rng):
    X, other = rng.normal(size=(2, 20, 3))
    known = Fingerprints.empty().add(trained=X).add(held_out=other)
    assert known.look(X).trained.all()
    assert not known.look(X).held_out.any()
    assert known.look(other).held_out.all()
    assert not known.look(other).trained.any()


def test_models_share_no_fingerprints_and_no_text_can_be_read():
    table = pd.DataFrame({"name": ["Zaphod Beeblebrox"] * 50, "n": np.arange(50) + 123456.0})
    one, other = (Fingerprints.empty().add(trained=table) for _ in range(2))
    assert one.salt != other.salt
    # Two sets of 50 out of 2**32: any common one has a probability below 1e-6.
    assert not np.isin(one.trained, other.trained).any()
    content = json.dumps(one.to_dict())
    assert "Zaphod" not in content
    assert "123456" not in content
    assert len(content) < 50 * 6 + 150  # four bytes are 5.4 letters, besides salt and names


@pytest.mark.parametrize(
    "change", [{"salt": "00"}, {"limit": 0}, {"limit": 2**33}, {"trained": "?"}, {"salt": "xy"}]
)
def test_damaged_content_is_refused(change):
    content = Fingerprints.empty().to_dict() | change
    with pytest.raises(ValueError, match=r"damaged|base64|hexadecimal|discontinuous"):
        Fingerprints.from_dict(content)


def test_a_limit_for_many_rows():
    for n_rows in (1, MAX_KEPT, MAX_KEPT + 1, 10**9):
        limit = Fingerprints.limit_for(n_rows)
        assert n_rows * limit / 2**32 <= MAX_KEPT
        assert limit == 2**32 or 2 * n_rows * limit / 2**32 > MAX_KEPT
