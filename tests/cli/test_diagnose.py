import pytest

from cli_helpers import ok, run_json


@pytest.mark.parametrize("model", ["linear.bpm", "kernel.bpm", "three.bpm", "sparse.bpm"])
def test_every_finding_is_printed(world, model):
    result = run_json("diagnose", world / model)
    assert result["n_rows"] > 0
    assert result["findings"]
    text = ok("diagnose", world / model)
    for finding in result["findings"]:
        assert finding["name"] in text
