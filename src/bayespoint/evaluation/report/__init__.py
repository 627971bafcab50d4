"""One HTML file that shows how good a classifier is, to read offline and to send around."""

from .writer import write_report

__all__ = ["write_report"]
