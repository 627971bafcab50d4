import pytest
from sklearn.pipeline import make_pipeline as chain

import bayespoint
from bayespoint import LinearMarginSVC, solvers
from bayespoint.io.models.allowed_types import MODULE_OF_TYPE, TYPES_OF_MODULE, find_type
from model_file_helpers import STATE, assert_refused, put, with_text


def test_a_cache_of_pickles_is_not_loaded(path):
    path.write_bytes(with_text(put(*STATE, "memory", value="/tmp"), chain(LinearMarginSVC())))
    assert_refused(path, "folder of pickles")


def test_every_type_is_a_class_of_its_name():
    """A name in the list cannot refer to anything else, such as a function of its module."""
    for name, module in MODULE_OF_TYPE.items():
        kind = find_type(name)
        assert isinstance(kind, type)
        assert kind.__name__ == name
        assert kind.__module__.partition(".")[0] == module.partition(".")[0]
    assert set(TYPES_OF_MODULE["bayespoint"]) < set(bayespoint.__all__)
    assert set(TYPES_OF_MODULE["bayespoint.solvers"]) < set(solvers.__all__)
    assert len(MODULE_OF_TYPE) == sum(map(len, TYPES_OF_MODULE.values()))


@pytest.mark.parametrize(
    "name", ["load", "solvers", "__builtins__", "bayespoint.load", "os.system", "", "Published"]
)
def test_other_names_are_not_found(name):
    assert find_type(name) is None


def test_no_type_can_be_called_or_has_a_way_of_its_own_to_be_unpickled():
    """So no attribute can be a disguised function, and `vars` holds the whole state."""
    for name in MODULE_OF_TYPE:
        mro = getattr(find_type(name), "__mro__", ())
        defined = {attribute for kind in mro if kind is not object for attribute in vars(kind)}
        assert not defined & {"__call__", "__reduce__", "__reduce_ex__", "__slots__", "__del__"}
    assert not {"FunctionTransformer", "Memory"} & MODULE_OF_TYPE.keys()
