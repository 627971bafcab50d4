import csv
import gzip

import pytest

from bayespoint.io.tables.sniff import guess_delimiter, guess_format, guess_header
from table_helpers import rows_of, table_of


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b,c\n1,2,3\n", ","),
        ("a\tb\tc\n1\t2\t3\n", "\t"),
        ("a;b;c\n1,5;2,5;3,5\n1,0;2;3\n", ";"),
        ("1,5;2,5;x\n1,0;2;y\n3;4;x\n", ";"),  # decimal commas, not in every line
        ("a|b|c\n1|2|3\n", "|"),
        ('"a;b;c;d",e\n1,2\n', ","),
        ('a,b\n"1;2;3;4",5\n', ","),
        ("price (EUR; gross; net),b\n1,2\n3,4\n", ","),
        ("one\n1\n2\n", ","),
        ("a b;c\n1;2", ";"),
    ],
)
def test_the_delimiter_is_guessed(tmp_path, text, delimiter):
    assert table_of(tmp_path, text).delimiter == guess_delimiter(text) == delimiter


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n", False),
        ("id,2019,2020\n1,5,6\n2,7,8\n", True),  # years are names, because id is not a number
        ("?,1,x\n2,3,y\n", False),  # a missing number is not a name
        (",1,x\n2,3,y\n", False),
        ("p,x,s\ne,x,y\n", True),  # nothing contradicts a header
        ("a,inf\n1,2\n", True),
        ("1\n", False),
    ],
)
def test_the_header_is_guessed(tmp_path, text, header):
    lines = text.splitlines()
    first, *others = csv.reader(lines, skipinitialspace=True)
    assert guess_header(first, iter(others)) == header
    table = table_of(tmp_path, text)
    assert table.has_header == header
    assert len(rows_of(table)) == len(lines) - header


@pytest.mark.parametrize(
    ("content", "name", "format"),
    [
        ("1 1:2 3:4\n", "t", "libsvm"),
        ("# a comment\n+1 1:2 # why\n", "t.txt", "libsvm"),
        ("1 1:2\n", "t.csv", "csv"),
        ("a,b\n", "t.txt", "csv"),
        ("a,b\n", "t", "csv"),
        ("1 2 3\n", "t.svm", "libsvm"),
        (gzip.compress(b"1 1:2\n", mtime=0), "t.SVM.gz", "libsvm"),
        (gzip.compress(b"a,b\n", mtime=0), "t.svm.csv.gz", "csv"),
    ],
)
def test_the_format_is_guessed(tmp_path, content, name, format):
    assert table_of(tmp_path, content, name).format == format
    assert table_of(tmp_path, "a 1:2\n", name, format="csv").format == "csv"


def test_parquet_is_found_whatever_its_name():
    assert guess_format(b"PAR1...", "t.csv") == "parquet"
    assert guess_format(b"a,b\n", "t.pq") == "parquet"
