from bayespoint.cli.odd_values import OddValues


def test_odd_values_are_told_once(capsys):
    odd = OddValues()
    odd("age", 2, "old")
    odd("age", 1, "young")
    odd("width", 0, "like 1,5")
    odd.tell()
    odd("age", 5, "x")
    odd.tell()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "'width' is written like 1,5 here, unlike in training" in lines[0]
    assert "3 values of column 'age' cannot be read and count as missing" in lines[1]
    assert lines[1].endswith("for example 'old'")
    assert len(odd.lines()) == 1
