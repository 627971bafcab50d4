import numpy as np
import pandas as pd
import pytest

from cli_helpers import fails, mixed_table, ok, run, run_json


@pytest.fixture
def messy(tmp_path):
    """A semicolon file with decimal commas, an index, an identifier, a constant and a copy."""
    table = mixed_table(300)
    table["age"] = [f"{v:.2f}".replace(".", ",") for v in table["age"].fillna(0)]
    table["id"] = [f"K{i:04}" for i in np.random.default_rng(0).permutation(300)]
    table["country"] = "DE"
    table["answer"] = table["kind"].str.upper()
    table["kind"] = table["kind"].map({"no": "01", "yes": "1"})
    table.to_csv(tmp_path / "t.csv", sep=";")
    return tmp_path / "t.csv"


def test_a_person_reads_a_table_of_80_columns(messy):
    text = ok("check", messy, "--target", "kind")
    lines = text.splitlines()
    assert lines[0] == "t.csv: 300 rows, 9 columns (columns between semicolons, utf-8)."
    assert all(len(line) <= 80 for line in lines)
    for name, *words in (
        ("column_1", "index, counts the rows", "left out"),
        ("age", "number like 1,5", "used"),
        ("id", "identifier, all values differ", "left out"),
        ("country", "constant, one value only", "left out"),
        ("answer", "copy, of the target 'kind'", "left out"),
        ("job", "category, 3 different", " 8 %", "used"),
    ):
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert all(word in line for word in words), line
    assert "Classes of kind: " in text
    assert text.endswith("No questions.\n")


def test_json_says_the_same(messy):
    result = run_json("check", messy, "--target", "kind")
    kinds = {column["name"]: column["kind"] for column in result["columns"]}
    assert kinds["id"] == "identifier"
    assert result["delimiter"] == ";"
    assert (result["questions"], result["suspicious"]) == ([], [])


def test_a_written_plan_trains_the_same_model(messy, tmp_path):
    plan = tmp_path / "plan.toml"
    text = ok("check", messy, "--target", "kind", "--write", plan)
    assert f"Written to {plan}" in text
    options = ["--model", tmp_path / "m", "--classifier", "linear"]
    one = run_json("train", messy, "--target", "kind", *options)
    other = run_json("train", messy, "--plan", plan, *options)
    measured = {"seconds": 0, "bytes": 0}  # the time is in the file, with more or fewer digits
    assert {**other, **measured} == {**one, **measured}
    plan.write_text(plan.read_text().replace('"age" = "number ,"', '"age" = "drop"'))
    assert "age" not in run_json("train", messy, "--plan", plan, *options)["columns"]["numbers"]
    plan.write_text(plan.read_text().replace('"age"', '"ages"'))
    line = fails("train", messy, "--plan", plan, *options)
    assert "There is no column 'ages'" in line
    before = messy.read_bytes()
    assert "would be overwritten" in fails("check", messy, "--write", messy, code=2)
    assert messy.read_bytes() == before


def test_train_says_the_same_in_a_line_each(messy, tmp_path):
    options = ["--target", "kind", "--model", tmp_path / "m", "--classifier", "linear"]
    result = run("train", messy, *options)
    notes = result.stderr.splitlines()
    assert len(notes) == 4
    for name, why in (
        ("column_1", "index, counts the rows"),
        ("id", "identifier, all values differ"),
        ("country", "constant, one value only"),
        ("answer", "copy, of the target 'kind'"),
    ):
        expected = f"column {name!r} is left out: {why} (--keep {name} to use it)"
        assert any(expected in line for line in notes)
    assert "(2 numeric and 2 categorical columns)" in result.stdout
    kept = run_json("train", messy, *options, "--keep", "column_1")
    assert "column_1" in kept["columns"]["numbers"]
    # Classes come back as they stand in the file, and nothing is said about known columns.
    answers = run("predict", tmp_path / "m", messy)
    assert answers.stderr.count("\n") == 1
    assert "equal rows that trained the model" in answers.stderr
    assert {line.split(",")[0].strip('"') for line in answers.stdout.splitlines()[1:]} == {
        "01",
        "1",
    }


def test_questions_are_asked(tmp_path):
    table = mixed_table(300)
    kind = (table["kind"] == "yes").to_numpy()
    table["near"] = np.where(np.arange(300) % 150 == 3, ~kind, kind)
    table["amount"] = [f"{v:,}" for v in np.random.default_rng(9).integers(1000, 9999, 300)]
    table["age"] = table["age"].astype(object)
    table.loc[7, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    text = " ".join(ok("check", tmp_path / "t.csv", "--target", "kind").split())
    assert "Column 'near' alone predicts the target in 99.3 % of the rows" in text
    assert "is read as thousands. If that is wrong, say --decimal ','." in text
    assert "1 value of column 'age' cannot be read and counts as missing" in text
    asked = run_json("check", tmp_path / "t.csv", "--target", "kind")
    assert [suspect["name"] for suspect in asked["suspicious"]] == ["near"]
    assert "suspicious" in asked
    table["kind"] = np.arange(300) % 72
    table.to_csv(tmp_path / "t.csv", index=False)
    assert "72 different numbers" in ok("check", tmp_path / "t.csv", "--target", "kind")


def test_a_target_is_not_needed_and_libsvm_has_no_columns(messy, tmp_path):
    text = ok("check", messy)
    assert "Classes of" not in text
    assert [line for line in text.splitlines() if line.startswith("answer")]
    (tmp_path / "t.libsvm").write_text("1 1:2\n-1 2:1\n")
    assert "is LIBSVM" in fails("check", tmp_path / "t.libsvm")


def test_values_that_cannot_be_read_are_told_without_a_target_too(tmp_path):
    table = mixed_table(300).astype({"age": object})
    table.loc[7, "age"] = "old"
    table.to_csv(tmp_path / "t.csv", index=False)
    text = " ".join(ok("check", tmp_path / "t.csv").split())
    assert "1 value of column 'age' cannot be read and counts as missing" in text
    table[["kind"]].assign(kind="").to_csv(tmp_path / "t.csv", index=False)
    assert "There should be a column with values." in ok("check", tmp_path / "t.csv")


def test_advice_can_be_copied_if_names_have_blanks(messy, tmp_path):
    table = pd.read_csv(messy, sep=";", dtype=str).rename(columns={"id": "order id"})
    table.to_csv(tmp_path / "t.csv", sep=";", index=False)
    options = ["--target", "kind", "--model", tmp_path / "m", "--classifier", "linear"]
    assert '(--keep "order id" to use it)' in run("train", tmp_path / "t.csv", *options).stderr
    text = (tmp_path / "t.csv").read_text().replace("answer", "the answer").replace(";NO", ";XX", 1)
    (tmp_path / "t.csv").write_text(text)
    said = " ".join(ok("check", tmp_path / "t.csv", "--target", "kind").split())
    assert 'say --drop "the answer".' in said


def test_rare_classes_are_left_out_and_said(tmp_path):
    table = mixed_table(120)
    table.loc[5, "kind"] = "maybe"
    table.loc[6:8, "kind"] = "perhaps"
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    options = ["--target", "kind", "--model", tmp_path / "m", "--classifier", "linear"]
    result = run("train", path, *options)
    assert "1 row of the class 'maybe' of 'kind' left out" in result.stderr
    assert "perhaps" in result.stdout
    result = run("train", path, *options, "--min-class-rows", 5)
    assert "4 rows of the classes 'maybe', 'perhaps' of 'kind' left out" in result.stderr
    assert (
        "classes with fewer than 5 rows will be left out: 'perhaps', 'maybe'"
        in " ".join(ok("check", path, "--target", "kind", "--min-class-rows", 5).split()).lower()
    )
    assert pd.read_csv(path).shape == (120, 5)


def test_a_target_of_one_class_is_asked_about(tmp_path):
    table = mixed_table(60)
    table["kind"] = ["NA", "yes"] * 30
    table.to_csv(tmp_path / "t.csv", index=False)
    text = " ".join(ok("check", tmp_path / "t.csv", "--target", "kind").split())
    assert "missing (empty, NA or the like) in 30 rows" in text
    assert "The target 'kind' should have two classes or more to train with, but has 1." in text


def test_codes_for_missing_values_and_mixed_percents_are_asked_about(tmp_path):
    table = mixed_table(300)
    table["age"] = table["age"].round().fillna(-999)
    table["share"] = [f"{v} %" if i % 3 else v / 100 for i, v in enumerate(range(300))]
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    text = " ".join(ok("check", tmp_path / "t.csv", "--target", "kind").split())
    n_missing = int((table["age"] == -999).sum())
    assert f"Column 'age' holds -999 in {n_missing} rows, far from its other values." in text
    assert "Column 'share' holds '0.03' among numbers with %: it is read as 0.03 %." in text


def test_classes_that_differ_in_capital_letters_only_are_asked_about(tmp_path):
    table = mixed_table(60)
    table.loc[::3, "kind"] = table.loc[::3, "kind"].str.upper()
    table.loc[0, "kind"] = "once"
    table.to_csv(tmp_path / "t.csv", index=False)
    said = "he classes 'NO' and 'no' differ in capital letters only, and stay different classes"
    text = " ".join(ok("check", tmp_path / "t.csv", "--target", "kind").split())
    assert f"- T{said}" in text
    assert "will be left out: 'once'" in text
    model = tmp_path / "m"
    result = run("train", tmp_path / "t.csv", "--target", "kind", "--model", model)
    assert f"note: t{said}" in result.stderr


def test_categories_that_differ_in_capital_letters_only_are_asked_about(tmp_path):
    table = pd.DataFrame({"plan": ["Basic", "basic", "Team"] * 20, "y": ["a", "b"] * 30})
    table.to_csv(tmp_path / "t.csv", index=False)
    text = " ".join(ok("check", tmp_path / "t.csv", "--target", "y").split())
    said = "the categories 'Basic' and 'basic' differ in capital letters only, and stay different"
    assert f"- Column 'plan': {said} categories. If they mean the same, write both in" in text
    assert "plan" not in "".join(
        run_json("check", tmp_path / "t.csv", "--target", "y", "--drop", "plan")["questions"]
    )
