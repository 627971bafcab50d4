"""HTML and SVG from function calls: everything that is not markup yet is escaped."""

from __future__ import annotations

import html

# Elements without content, which are not closed.
VOID_ELEMENTS = {"br", "input"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element. Write attribute names with _ for -, and class_ for class.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "yes"), class_="note", aria_hidden="true")
    '<p class="note" aria-hidden="true">1 &lt; 2 <b>yes</b></p>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is True:
            words.append(_attribute_name(key))
        elif value is not None and value is not False:
            words.append(f'{_attribute_name(key)}="{html.escape(str(value))}"')
    opening = f"<{' '.join(words)}>"
    return Markup(opening if name in VOID_ELEMENTS else f"{opening}{join(*children)}</{name}>")


def join(*children: object) -> Markup:
    """Concatenate children. Escape children that are not markup, and skip None."""
    return Markup("".join(_escape(child) for child in children if child is not None))


def table(head: list, rows: list[list], *, caption: str, class_: str | None = None) -> Markup:
    """Return a table in a box that scrolls if the page is too narrow, with a cue that says so.

    The first cell of each row is its heading. Cells may already be <td> elements. The
    heading of a column stands where the numbers of the column stand.
    """
    header = tag("tr", *(_head(cell, [row[j] for row in rows]) for j, cell in enumerate(head)))
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(_cell(cell) for cell in row[1:]))
        for row in rows
    ]
    content = tag("table", tag("thead", header), tag("tbody", *body), class_=class_)
    # Only a box that can have the focus can be scrolled by keyboard.
    box = tag("div", content, class_="box", tabindex="0", role="region", aria_label=caption)
    # The script shows the cue where there is more to see. Screen readers need none.
    cue = tag("p", "Scroll sideways for more →", class_="cue", hidden=True, aria_hidden="true")
    return join(tag("h3", caption), cue, box)


def _head(cell: object, column: list) -> Markup:
    right = any(isinstance(c, Markup) and c.startswith('<td class="right"') for c in column)
    return tag("th", cell, scope="col", class_="right" if right else None)


def _cell(cell: object) -> Markup:
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    return tag("td", cell)


def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _escape(child: object) -> str:
    return child if isinstance(child, Markup) else html.escape(str(child))
