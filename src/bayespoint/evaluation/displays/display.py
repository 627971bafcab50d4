"""The base class of all displays: where to draw."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .style import use_style


class Display:
    """A picture that can be drawn on given or new matplotlib axes."""

    def plot(self, ax=None, *, legend: bool = True, **kwargs):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default new axes in the style of `use_style`, except for what
            you have set in matplotlib's `rcParams`.
        legend : bool, default=True
            Whether to draw a legend. `from_estimator` takes it too: with several displays in a
            figure, one legend is enough.
        **kwargs : dict
            For matplotlib, as in `from_estimator`.

        Returns
        -------
        self
        """
        with self._style(ax):
            ax = self._new_axes() if ax is None else ax
            self._draw(ax, **kwargs)
        if not legend and ax.get_legend() is not None:
            ax.get_legend().remove()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax, **kwargs) -> None:
        raise NotImplementedError

    def _style(self, ax) -> AbstractContextManager:
        """Return the style of new axes; given axes keep their own."""
        if ax is not None:
            return nullcontext()
        try:
            return use_style(only_defaults=True)
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} needs the package matplotlib, which is not installed: "
                "pip install 'bayespoint[plot]'."
            ) from error

    def _new_axes(self) -> Any:
        import matplotlib.pyplot as plt

        return plt.subplots(layout="constrained")[1]
