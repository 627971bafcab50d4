import inspect

from bayespoint.io.tables.chunks import read_chunks
from bayespoint.io.tables.read_options import ReadOptions


def test_read_chunks_has_the_same_defaults():
    parameters = inspect.signature(read_chunks).parameters
    defaults = vars(ReadOptions())
    shared = parameters.keys() & defaults.keys()
    assert shared == {"n_features", "header", "encoding"}
    assert {name: parameters[name].default for name in shared} == {
        name: defaults[name] for name in shared
    }
