from importlib import resources


def test_type_checkers_use_the_annotations():
    """The installed package has the marker file; without it type checkers ignore the package."""
    assert resources.files("bayespoint").joinpath("py.typed").is_file()
