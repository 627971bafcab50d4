"""What compiled code relies on: trees from a stranger must stay inside of their arrays."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bayespoint.io.models.foreign_checks import check_foreign
from bayespoint.io.models.model_file import ModelFileError, load, save
from foreign_helpers import X, option, parts, with_bytes, with_members, y

pytest.importorskip("skops")
pytestmark = pytest.mark.usefixtures("one_thread")


def changed_tree(**changes):
    """Return a tree with other nodes, as a hostile file would have."""
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    state = model.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in changes.items():
        if name in nodes.dtype.names:
            nodes[name][0] = value
        else:
            state[name] = value
    model.tree_.__setstate__(state | {"nodes": nodes})
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {"left_child": 10**6},
        {"left_child": 0},  # the root again: an endless walk
        {"left_child": -2},
        {"right_child": 17},
        {"right_child": 0},
        {"feature": 4},
        {"feature": -2},
        {"feature": 2**40},
        {"node_count": 10**6},
        {"node_count": 0},
    ],
)
def test_trees_out_of_bounds(changes):
    check_foreign(changed_tree())
    with pytest.raises(ValueError, match="tree"):
        check_foreign(changed_tree(**changes))


def test_members_with_other_columns():
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    check_foreign(make_pipeline(StandardScaler(), forest))
    forest.n_features_in_ = 3
    with pytest.raises(ValueError, match="other columns"):
        check_foreign([{"a": (forest,)}])
    tree = DecisionTreeClassifier().fit(X, y)
    tree.n_features_in_ = 3
    with pytest.raises(ValueError, match="columns of its estimator"):
        check_foreign(np.array([tree], dtype=object))
    bag = BaggingClassifier(n_estimators=2, max_features=2, random_state=0).fit(X, y)
    check_foreign(bag)
    bag.estimators_features_[0] = np.array([0])
    with pytest.raises(ValueError, match="other columns"):
        check_foreign(bag)


@pytest.mark.parametrize(
    ("name", "value"),
    [("left", 10**6), ("left", 0), ("right", 0), ("feature_idx", 4), ("feature_idx", -1)],
)
def test_boosted_trees_out_of_bounds(name, value):
    model = HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, y)
    check_foreign(model)
    model._predictors[1][0].nodes[name][0] = value
    with pytest.raises(ValueError, match="tree"):
        check_foreign(model)


def test_boosted_trees_with_categories():
    table = np.column_stack([X, np.arange(150) % 5])
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[4], random_state=0)
    model.fit(table, (np.arange(150) % 5) % 2)
    predictor = model._predictors[0][0]
    assert predictor.nodes["is_categorical"].any()
    check_foreign(model._predictors)
    model._bin_mapper.is_categorical_ = np.zeros(2, np.uint8)
    with pytest.raises(ValueError, match="bins should have the columns"):
        _check_boosted(model)
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[4], random_state=0)
    model.fit(table, (np.arange(150) % 5) % 2)
    nodes = model._predictors[0][0].nodes
    nodes["bitset_idx"][np.flatnonzero(nodes["is_categorical"])[0]] = 10**6
    with pytest.raises(ValueError, match="categories out of bounds"):
        _check_boosted(model)


def with_categories():
    """Return a model whose first columns are categories, and the nodes of its first tree."""
    table = np.column_stack([X, np.arange(150) % 5])
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[4], random_state=0)
    model.fit(table, (np.arange(150) % 5) % 2)
    check_foreign(model)
    return model, model._predictors[0][0].nodes


@pytest.mark.parametrize("n_words", [0, 1, 7, 9])
def test_boosted_trees_look_up_categories_in_eight_words(n_words):
    """A category has eight bits: fewer words of 32 bits, and compiled code reads beyond them."""
    model, _ = with_categories()
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        setattr(model._predictors[0][0], name, np.zeros((5, n_words), np.uint32))
    with pytest.raises(ValueError, match="categories of another shape"):
        check_foreign(model)


def test_boosted_trees_ask_for_categories_of_columns_that_have_some():
    """The others have no list of known categories, which compiled code would read."""
    model, nodes = with_categories()
    place = np.flatnonzero(nodes["is_categorical"])[0]
    is_number = np.flatnonzero(model._bin_mapper.is_categorical_ == 0)
    nodes["feature_idx"][place] = is_number[0]
    with pytest.raises(ValueError, match="categories of a column without any"):
        check_foreign(model)


def test_boosted_trees_get_the_columns_that_were_counted():
    """A part that comes before the trees could drop columns, or keep them from being counted."""
    model = HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, y)
    model._in_fit = True  # rows are taken as they are
    with pytest.raises(ValueError, match="in the middle of its training"):
        check_foreign(model)
    model = HistGradientBoostingClassifier(max_iter=2, random_state=0).fit(X, y)
    model._preprocessor = PCA(1).fit(X)
    with pytest.raises(ValueError, match="columns are prepared"):
        check_foreign(model)


@pytest.mark.parametrize("n_features", [np.array([]), np.array([4]), 4.0, None, True])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, HistGradientBoostingClassifier])
def test_the_number_of_columns_is_a_number(kind, n_features):
    """An empty array differs from nothing: with NumPy 1, any row would pass the check."""
    model = kind(random_state=0).fit(X, y)
    model.n_features_in_ = n_features
    with pytest.raises(ValueError, match="number of columns"):
        check_foreign(model)


def random_states(kind):
    """Return a generator of random numbers, and the parts of its state."""
    if kind == "RandomState":
        made = np.random.RandomState(0)
        return made, made.get_state(legacy=False), made.set_state
    bits = getattr(np.random, kind)(0)
    return np.random.Generator(bits), bits.state, lambda state: setattr(bits, "state", state)


@pytest.mark.parametrize("kind", ["RandomState", "MT19937"])
@pytest.mark.parametrize("position", [-1, 625, 10**6])
def test_random_numbers_are_read_inside_of_their_state(kind, position):
    made, state, put = random_states(kind)
    model = GaussianNB().fit(X, y)
    model.random_state = made
    check_foreign(model)
    state["state"]["pos"] = position
    put(state)
    with pytest.raises(ValueError, match="random number generator is impossible"):
        check_foreign([{"a": model}])


@pytest.mark.parametrize("position", [-1, 5])
def test_random_numbers_are_read_inside_of_their_buffer(position):
    made, state, put = random_states("Philox")
    check_foreign(made)
    state["buffer_pos"] = position
    put(state)
    with pytest.raises(ValueError, match="random number generator is impossible"):
        check_foreign(made)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "SFC64"])
def test_other_random_numbers_have_no_position(kind):
    check_foreign(random_states(kind)[0])


def _check_boosted(model):
    from bayespoint.io.models.foreign_checks import _boosted

    _boosted(model)


def test_attributes_that_hide_methods_and_caches():
    model = GaussianNB().fit(X, y)
    model.predict = "x"
    with pytest.raises(ValueError, match="'predict' is not an attribute"):
        check_foreign(model)
    with pytest.raises(ValueError, match="memory should be None"):
        check_foreign(make_pipeline(StandardScaler(), memory="folder"))


@pytest.mark.parametrize("n_files", [12, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [RandomForestClassifier, HistGradientBoostingClassifier])
def test_no_change_of_an_array_makes_a_prediction_leave_its_arrays(kind, n_files, path, rng):
    """Each file has random bytes in one array: it is refused, or predicts something."""
    size = {"n_estimators": 2} if kind is RandomForestClassifier else {"max_iter": 1}
    model = option(kind(**size, random_state=0))
    save(model, path)
    assert (load(path).predict(X) == model.predict(X)).all()
    n_refused, saved = 0, parts(path)
    for _ in range(n_files):

        def damage(members):
            name = rng.choice([name for name in members if name.endswith(".npy")])
            content = bytearray(members[name])
            start = min(128, len(content) - 1)
            for place in rng.integers(start, len(content), 3):
                content[place] = rng.integers(256)
            return members | {name: bytes(content)}

        with_bytes(path, with_members(damage), saved)
        try:
            with np.errstate(all="ignore"):
                load(path).predict(X)
        except ModelFileError:
            n_refused += 1
        except (ValueError, IndexError, OverflowError, TypeError, KeyError):
            pass
    assert n_refused > 0
