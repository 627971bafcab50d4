"""The section about segments: what differs, or that nothing does."""

import numpy as np

from bayespoint.evaluation.intervals import share
from bayespoint.evaluation.report.columns import Table
from bayespoint.evaluation.report.sections.segments import segments_section
from bayespoint.evaluation.report.segments import Segment, Segments
from report_helpers import Page

CELLS = Table(np.zeros((2, 30)))


def segment(j):
    return Segment(j, "= <red>", share(30, 60, 0.95), share(10, 100, 0.95), 0.25, 0.001)


def test_segments_in_words():
    section = segments_section(CELLS, Segments([segment(3)], 40))
    words = Page(section.content).text
    assert "40 segments of the rows" in words
    assert "x3 = <red> (60 rows) 50.0% 36.8 to 63.2% 10.0% 25.0%" in words
    assert "at most 5%" in words


def test_many_none_and_no_looks():
    words = Page(segments_section(CELLS, Segments([segment(j) for j in range(12)], 40)).content)
    assert "2 columns more are not shown" in words.text
    nothing = segments_section(CELLS, Segments([], 40))
    assert "Nowhere, as far as these rows can tell. 40 segments" in Page(nothing.content).text
    assert segments_section(CELLS, Segments([], 0)) is None
