from bayespoint.papers.kept import circumstances, ours, read_lines
from bayespoint.papers.registry import find


def test_what_was_written_is_read(tmp_path):
    (tmp_path / "table_1.csv").write_text('quantity,ours,error\n"a, b",1.23456,0.0123\nc,2,\n')
    (tmp_path / "table_1.json").write_text('{"seed": 3}')
    first, second = read_lines(tmp_path / "table_1.csv")
    assert first["quantity"] == "a, b"
    assert ours(first) == "1.235 ± 0.012"
    assert ours(second) == "2"
    assert ours({"ours": "1.0", "error": "5.6e-17"}) == "1 ± 0"
    assert circumstances(find("table_1"), tmp_path) == {"seed": 3}
