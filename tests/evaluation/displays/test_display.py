"""All displays: axes, and matplotlib only to draw."""

import subprocess
import sys

import pytest

from bayespoint import displays
from bayespoint.evaluation.displays.display import Display


@pytest.mark.parametrize("name", displays.__all__)
def test_all_displays_share_plot(name):
    cls = getattr(displays, name)
    assert issubclass(cls, Display)
    assert "plot" not in vars(cls)


def test_draws_on_given_or_new_axes():
    import matplotlib.pyplot as plt

    class Line(Display):
        def _draw(self, ax, **kwargs):
            ax.plot([0, 1], **kwargs)

    ax = plt.subplots()[1]
    one = Line().plot(ax, color="red")
    assert one.ax_ is ax
    assert one.figure_ is ax.figure
    assert ax.lines[0].get_color() == "red"
    two = Line().plot()
    assert two.ax_ is not ax


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, bayespoint; bayespoint.RejectionCurveDisplay\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "bayespoint.RejectionCurveDisplay.from_predictions([0], [0], [1.0])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'bayespoint[plot]'" in run.stderr.splitlines()[-1]
