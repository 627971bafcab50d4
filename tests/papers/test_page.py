from bayespoint.papers.page import MAX_PARTS_SHOWN, write_page
from bayespoint.papers.published import published

HEADER = "quantity,ours,error,n,published,place,far,verdict\n"
CIRCUMSTANCES = '{"seed": 0, "quick": false, "seconds": 1, "version": "0", "notes": []}'


def page(folder, name, lines):
    (folder / f"{name}.csv").write_text(HEADER + lines)
    (folder / f"{name}.json").write_text(CIRCUMSTANCES)
    write_page(folder, folder / "page.md")
    return (folder / "page.md").read_text()


def test_differences_have_a_reason_and_its_test(tmp_path):
    line = '"banana, BPM error %",13.6,0.1,100,15.1 ± 0.14,here,-8.7,is lower\n'
    text = page(tmp_path, "table_1", line)
    difference = "Differs by more than two standard errors: banana, BPM error %. "
    assert difference + "The paper's billiard stops early" in text
    assert "Test: experiment algorithm_2." in " ".join(text.split())


def test_agreement_due_to_few_repetitions_is_counted_separately(tmp_path):
    lines = (
        "a,1,0.1,3,1.4,here,-4,agrees\nb,1,0.1,3,1.1,here,-1,agrees\nc,1,1,9,9,here,-8,is lower\n"
    )
    text = " ".join(page(tmp_path, "figure_9", lines).split())
    assert "and 2 agree, 1 of them only because there are few repetitions." in text


def test_many_parts_of_one_result_are_folded(tmp_path):
    parts = [q for q, number in published("table_18_1").items() if number.kind == "part"]
    assert len(parts) > MAX_PARTS_SHOWN
    lines = "".join(f'"{q}",1,1,104,1,here,0,agrees\n' for q in parts) + "mine,1,,1,,,,\n"
    text = page(tmp_path, "table_18_1", lines)
    shown, _, folded = text.partition("<details>")
    assert "| mine |" in shown
    assert parts[0] not in shown
    assert all(part in folded for part in parts)
