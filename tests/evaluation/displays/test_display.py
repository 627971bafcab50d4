"""All displays: axes, and matplotlib only to draw."""

import subprocess
import sys

import pytest
from matplotlib.colors import to_rgb

from bayespoint import displays
from bayespoint.evaluation.displays.display import Display
from bayespoint.evaluation.displays.style import DOTS_PER_INCH

CLASSES = [name for name in displays.__all__ if name.endswith("Display")]


@pytest.mark.parametrize("name", CLASSES)
def test_all_displays_share_plot(name):
    cls = getattr(displays, name)
    assert issubclass(cls, Display)
    assert "plot" not in vars(cls)


class Line(Display):
    def _draw(self, ax, **kwargs):
        ax.plot([0, 1], **kwargs, label="line")
        ax.legend()


class WithoutLegend(Display):
    def _draw(self, ax):
        ax.plot([0, 1])


def test_draws_on_given_or_new_axes():
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    one = Line().plot(ax, color="red")
    assert one.ax_ is ax
    assert one.figure_ is ax.figure
    assert ax.lines[0].get_color() == "red"
    two = Line().plot()
    assert two.ax_ is not ax


def test_a_legend_can_be_left_out():
    assert Line().plot().ax_.get_legend() is not None
    assert Line().plot(legend=False, color="red").ax_.get_legend() is None
    assert WithoutLegend().plot(legend=False).ax_.get_legend() is None


def test_new_axes_have_our_style_and_keep_the_wishes_of_the_user():
    from matplotlib import rc_context, rcParams

    before = rcParams.copy()
    with rc_context({"axes.facecolor": "pink"}):
        display = Line().plot()
        assert rcParams["font.size"] == before["font.size"]
    assert display.figure_.dpi == DOTS_PER_INCH
    assert not display.ax_.spines["top"].get_visible()
    assert to_rgb(display.ax_.get_facecolor()) == to_rgb("pink")
    assert rcParams == before


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys, bayespoint; bayespoint.RejectionCurveDisplay\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "bayespoint.RejectionCurveDisplay.from_predictions([0], [0], [1.0])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'bayespoint[plot]'" in run.stderr.splitlines()[-1]
