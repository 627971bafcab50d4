"""Everything that is not markup is escaped."""

from bayespoint.evaluation.report.markup import Markup, join, table, tag


def test_markup_escapes_whatever_is_not_markup():
    assert tag("p", "<b>", title='"&') == '<p title="&quot;&amp;">&lt;b&gt;</p>'
    assert tag("p", tag("b", "x"), None, 1) == "<p><b>x</b>1</p>"
    assert tag("input", hidden=True, value=None) == "<input hidden>"
    assert isinstance(join("<"), Markup)


def test_tables_have_headings_and_take_finished_cells():
    html = table(["a", "b"], [["<x>", tag("td", 1, class_="right")], ["y", 2]], caption="C")
    assert '<th scope="row">&lt;x&gt;</th><td class="right">1</td>' in html
    assert '<th scope="row">y</th><td>2</td>' in html
    assert html.startswith("<h3>C</h3>")
    assert 'tabindex="0" role="region" aria-label="C"' in html
