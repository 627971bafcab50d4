"""The base class of all displays: where to draw."""

from __future__ import annotations

from typing import Any


class Display:
    """A picture that can be drawn on given or new matplotlib axes."""

    def plot(self, ax=None, **kwargs):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        **kwargs : dict
            For matplotlib, as in `from_estimator`.

        Returns
        -------
        self
        """
        ax = self._new_axes() if ax is None else ax
        self._draw(ax, **kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax, **kwargs) -> None:
        raise NotImplementedError

    def _new_axes(self) -> Any:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} needs the package matplotlib, which is not installed: "
                "pip install 'bayespoint[plot]'."
            ) from error
        return plt.subplots(layout="constrained")[1]
