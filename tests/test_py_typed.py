from importlib import resources


def test_type_checkers_use_the_annotations():
    """An installed package has the marker file without which type checkers ignore it."""
    assert resources.files("bayespoint").joinpath("py.typed").is_file()
