from bayespoint.cli.group_lines import MAX_GROUPS_SHOWN, group_lines, promise_lines
from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.results import GroupAnswers, Kept, Promise


def test_no_groups_no_lines():
    assert group_lines([]) == []
    assert promise_lines(Promise(0.5, share(0, 10, 0.95), 0.1, None, None, 10, True)) == []


def test_who_is_refused_how_often():
    lines = group_lines([("north", 1200, 900, ""), ("isle", 10, 0, "3 rows"), ("new", 0, 0, "")])
    assert [line.split() for line in lines] == [
        ["group", "rows", "refused"],
        ["north", "1,200", "25.0", "%"],
        ["isle", "10", "100.0", "%", "(3", "rows)"],
        ["new", "0", "-"],
    ]


def test_the_largest_of_many_groups():
    lines = group_lines([(f"g{k}", k, 0, "") for k in range(MAX_GROUPS_SHOWN + 3)])
    assert lines[1].split()[0] == f"g{MAX_GROUPS_SHOWN + 2}"
    assert lines[-1] == "  and 3 more with fewer rows"


def test_promises_and_groups_in_which_they_are_broken():
    bad = share(60, 100, 0.95)
    error = Kept("error", 0.1, 0.6, bad.low, bad.high, 100)
    cost = Kept("cost", 0.2, 0.15, 0.1, 0.2, 100)
    rate = Kept("false positive rate", 0.1, float("nan"), 0.0, 1.0, 0)
    groups = (
        GroupAnswers("north", 120, bad, (error,), 0.5, ""),
        GroupAnswers("isle", 5, share(0, 0, 0.95), (), float("inf"), "5 rows"),
    )
    kept = error, cost, rate._replace(n_rows=40, value=0.5, low=0.3), rate
    lines = promise_lines(
        Promise(0.5, bad, None, 0.1, 0.95, 10, True, kept, "value of “region”", groups)
    )
    assert lines[0] == "  cost: 0.15 (promised: at most 0.2)"
    assert lines[1].endswith("50.0 % (promised: at most 0.1), more than chance explains")
    assert lines[2] == "  false positive rate: no row to judge by (promised: at most 0.1)"
    assert lines[4] == "By value of “region”:"
    assert lines[6].split()[:6] == ["north", "120", "16.7", "%", "60", "60.0"]
    assert lines[6].endswith("broken: more than chance explains")
    assert lines[7].endswith("-  (5 rows)")
