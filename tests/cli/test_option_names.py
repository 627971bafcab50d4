"""The same advice names arguments in the library and options in the command."""

import pytest

from bayespoint.cli.option_names import name_options
from bayespoint.io.tables.chunks import read_chunks
from cli_helpers import fails


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            'Pass encoding="latin-1" or encoding="utf-16".',
            "--encoding latin-1 or --encoding utf-16",
        ),
        ("pass header=False.", "pass --no-header."),
        ("pass header=True.)", "pass --header.)"),
        ("Pass n_features=NUMBER.", "Pass --features NUMBER."),
        ("Pass folder=FOLDER.", "Pass --data FOLDER."),
        (
            "Give more rows (calibration_size, cv), a larger max_error or a smaller "
            "confidence_level.",
            "Give more rows (train with a larger --holdout), a larger --max-error or a smaller "
            "--confidence-level.",
        ),
        ("There is no column 'header=x' or 'my_encoding=y'.", "'header=x' or 'my_encoding=y'"),
    ],
)
def test_arguments_become_options(message, expected):
    assert expected in name_options(message)


ADVICE = {
    "encoding": (b"gr\x81\xffe,kind\n1,a\n", 'encoding="latin-1"', "--encoding latin-1"),
    "header": (b"age,sort\n1,a\n", "header=False", "--no-header"),
    "no header": (b"1,2\n3,4\n", "header=True", "--header"),
}


@pytest.mark.parametrize("case", ADVICE)
def test_library_names_arguments_and_command_names_options(case, tmp_path):
    content, argument, option = ADVICE[case]
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"(?i)pass") as caught:
        read_chunks(path, "kind")
    assert argument in str(caught.value)
    assert "--" not in str(caught.value)
    line = fails("train", path, "--target", "kind", "--model", tmp_path / "m")
    assert option in line
    assert argument not in line
