import numpy as np

from bayespoint.papers import figure_10
from bayespoint.papers.experiment import Plan
from bayespoint.papers.figure_9 import machine
from papers_stand_ins import load_small_digits


def test_a_digit_is_counted_once_for_each_perceptron_that_uses_it(monkeypatch):
    monkeypatch.setattr(figure_10.digits, "load_handwritten", load_small_digits)
    outcome = figure_10.run(Plan())
    data = load_small_digits("usps")
    model = machine(0, 1).fit(data.X_train, data.y_train)
    used = {
        index: sum(bool(draw[position]) for output in model.draw_coef_ for draw in output)
        for position, index in enumerate(model.support_)
    }
    top = sorted(used.values(), reverse=True)[: figure_10.N_HARDEST]
    runs = [line for line in outcome.runs if line["machine"] == "ours"]
    assert len(outcome.runs) == 2 * len(runs)
    assert [line["used"] for line in runs] == top
    assert all(used[line["index"]] == line["used"] for line in runs)
    assert all(data.y_train[line["index"]] == line["class"] for line in outcome.runs)
    share = outcome.numbers["digits that some classifier uses, %"].mean
    assert share == 100 * np.mean([used.get(i, 0) > 0 for i in range(len(data.y_train))])
