"""One HTML file that shows how good a classifier is. It can be read offline and sent around."""

from .writer import write_report

__all__ = ["write_report"]
