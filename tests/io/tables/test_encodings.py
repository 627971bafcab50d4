import pytest

from bayespoint.io.tables.encodings import guess_encoding

TEXT = "größe,kind\n1,Köln\n" * 50


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *[("utf-8", "utf-8"), ("ascii", "utf-8"), ("utf-8-sig", "utf-8-sig")],
        *[("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
        *[("latin-1", "cp1252"), ("cp1252", "cp1252")],
    ],
)
def test_encodings_are_recognized(written, expected):
    content = TEXT.encode(written, "ignore")
    encoding, example = guess_encoding(content)
    assert encoding == expected
    assert content.decode(encoding) == TEXT.encode(written, "ignore").decode(written)
    # A guess comes with letters to check it by.
    assert ("ö" in example) == (expected == "cp1252")


def test_a_letter_behind_the_head_is_found_in_the_file(tmp_path):
    content = b"a,b\n" * 100 + "Köln".encode("latin-1")
    (tmp_path / "t.csv").write_bytes(content)
    assert guess_encoding(content[:100], tmp_path / "t.csv") == ("cp1252", "Köln")
    assert guess_encoding(content[:100]) == ("utf-8", "")


def test_damaged_text_is_not_read_in_another_encoding():
    """Otherwise "Köln" would silently become "KÃ¶ln"."""
    assert guess_encoding("Köln,".encode() + b"\xff,x") == ("utf-8", "")
    assert guess_encoding(b"a,\xff,x,\n" + "Köln".encode()) == ("utf-8", "")
    assert guess_encoding(b"a,\x81,x") == ("utf-8", "")  # no letter of cp1252
    # The head may end within a letter.
    assert guess_encoding("Köl".encode()[:2]) == ("utf-8", "")
