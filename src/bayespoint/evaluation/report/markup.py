"""HTML and SVG from calls: whatever is not markup yet is escaped, so nobody can forget it."""

from __future__ import annotations

import html

_EMPTY = {"br", "input"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element. Names of attributes have _ for -, and one at the end if need be.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "yes"), class_="note", aria_hidden="true")
    '<p class="note" aria-hidden="true">1 &lt; 2 <b>yes</b></p>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is True:
            words.append(_name(key))
        elif value is not None and value is not False:
            words.append(f'{_name(key)}="{html.escape(str(value))}"')
    opening = f"<{' '.join(words)}>"
    return Markup(opening if name in _EMPTY else f"{opening}{join(*children)}</{name}>")


def join(*children: object) -> Markup:
    """Return all children one after the other, escaped where they are not markup."""
    return Markup("".join(_safe(child) for child in children if child is not None))


def table(head: list, rows: list[list], *, caption: str, class_: str | None = None) -> Markup:
    """Return a table that scrolls in a box of its own where the page is narrow.

    The first cell of a row is its heading. Cells may be elements <td> already.
    """
    header = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(_cell(cell) for cell in row[1:]))
        for row in rows
    ]
    content = tag("table", tag("thead", header), tag("tbody", *body), class_=class_)
    # A box that scrolls needs the focus, for those who scroll with keys.
    box = tag("div", content, class_="box", tabindex="0", role="region", aria_label=caption)
    return join(tag("h3", caption), box)


def _cell(cell: object) -> Markup:
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    return tag("td", cell)


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _safe(child: object) -> str:
    return child if isinstance(child, Markup) else html.escape(str(child))
