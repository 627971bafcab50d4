import pytest

from bayespoint.labeling.labels import LabelError, check_label


def test_ordinary_names():
    assert check_label("  yes ", []) == "yes"
    assert check_label("Größe 2", ["yes"]) == "Größe 2"
    assert check_label("yes", ["yes"]) == "yes"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "It is empty"),
        ("  ", "It is empty"),
        ("NA", "missing value"),
        ("a\nb", "one line"),
        ("a\x00b", "one line"),
        ("x" * 201, "at most 200"),
        ("YES", "“yes” already"),
    ],
)
def test_names_that_would_do_harm(text, reason):
    with pytest.raises(LabelError, match=reason):
        check_label(text, ["yes"])
