"""The style of all pictures: for everything, or for one picture."""

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from bayespoint.displays import use_style
from bayespoint.evaluation.displays.colors import COLORS
from bayespoint.evaluation.displays.style import STYLE


@pytest.fixture(autouse=True)
def own_parameters():
    with mpl.rc_context():
        yield


def test_the_style_stays_without_a_context():
    use_style()
    assert mpl.rcParams["font.size"] == STYLE["font.size"]
    assert mpl.rcParams["axes.prop_cycle"].by_key()["color"] == list(COLORS)


def test_a_context_puts_everything_back_also_after_an_error():
    mpl.rcParams["font.size"] = 31
    before = mpl.rcParams.copy()
    with pytest.raises(KeyError), use_style():
        mpl.rcParams["no such parameter"]
    assert mpl.rcParams == before


def test_as_defaults_it_leaves_alone_what_the_user_has_set():
    mpl.rcdefaults()
    mpl.rcParams["font.size"] = 31
    with use_style(only_defaults=True):
        assert mpl.rcParams["font.size"] == 31
        assert mpl.rcParams["figure.dpi"] == STYLE["figure.dpi"]


def test_a_figure_is_1200_pixels_wide_and_not_transparent():
    with use_style():
        figure = Figure()
    assert figure.get_figwidth() * figure.dpi == 1200
    assert figure.get_facecolor() == (1, 1, 1, 1)
