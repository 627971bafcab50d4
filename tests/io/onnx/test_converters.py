import pytest

from bayespoint.io.onnx.converters import find_converter

CONVERTERS = {int: hex, str: len}


def test_subclasses_have_the_converter_of_their_class():
    assert find_converter(CONVERTERS, True, "Things", "") is hex
    assert find_converter(CONVERTERS, "text", "Things", "") is len


def test_the_error_lists_what_can_be_exported():
    with pytest.raises(
        ValueError, match=r"float cannot be exported.*Things that can: int, str\. Go"
    ):
        find_converter(CONVERTERS, 1.5, "Things", "Go.")
