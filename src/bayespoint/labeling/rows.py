"""The rows of a pool, as a person sees them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

# Longer cells are cut until the person asks for all of it.
MAX_CELL_CHARACTERS = 1500
# Nobody reads more of a cell than this.
MAX_WHOLE_CELL_CHARACTERS = 1_000_000
# Cells of a row that are sent to the page.
MAX_CELLS = 200
# Results of a search, and how much of them is shown.
MAX_FOUND = 50
MAX_PREVIEW_CHARACTERS = 80
N_PREVIEW_CELLS = 3
KEY_BYTES = 8


class Rows:
    """A table of the pool without its target, and how to show it.

    Parameters
    ----------
    table : pyarrow.Table
        The columns as they are written in the file.
    shown : sequence of str
        Columns to show.
    texts : sequence of str
        Columns of free text, shown first and in large type.
    image : str, default=None
        Column with a path or data URI of a picture.
    """

    def __init__(
        self,
        table: Any,
        shown: Sequence[str],
        texts: Sequence[str] = (),
        image: str | None = None,
    ):
        self.table, self.image = table, image
        self._texts = [name for name in texts if name in shown]
        self._shown = [name for name in shown if name != image and name not in self._texts]

    def __len__(self) -> int:
        return self.table.num_rows

    def cell(self, row: int, name: str) -> str | None:
        """Return a cell as it is written, or None if it is empty."""
        value = self.table[name][row].as_py()
        text = "" if value is None else str(value)
        return text if text.strip() else None

    def key(self, row: int) -> str:
        """Return a hash of the content of a row, whatever the order of rows and columns."""
        digest = blake2b(digest_size=KEY_BYTES)
        for name in sorted(self.table.column_names):
            for part in (name, self.cell(row, name) or ""):
                content = part.encode("utf-8", "surrogatepass")
                digest.update(len(content).to_bytes(8, "little") + content)
        return digest.hexdigest()

    def show(self, row: int, *, whole: bool = False) -> dict[str, Any]:
        """Return a row for the page: texts, then other columns, and whether it has a picture."""
        most = MAX_WHOLE_CELL_CHARACTERS if whole else MAX_CELL_CHARACTERS
        cells = [self._cell(row, name, "text", most) for name in self._texts]
        cells += [self._cell(row, name, "value", most) for name in self._shown]
        return {
            "row": row,
            "cells": cells[:MAX_CELLS],
            "n_more_cells": max(len(cells) - MAX_CELLS, 0),
            "image": self.has_image(row),
        }

    def has_image(self, row: int) -> bool:
        """Tell whether a row names a picture."""
        return self.image is not None and self.cell(row, self.image) is not None

    def _cell(self, row: int, name: str, kind: str, most: int) -> dict[str, Any]:
        text = self.cell(row, name)
        if text is None:
            return {"name": name, "kind": "empty", "text": ""}
        shown = {"name": name, "kind": kind, "text": text[:most]}
        return shown | ({"n_characters": len(text)} if len(text) > most else {})

    def preview(self, row: int) -> str:
        """Return the first cells of a row on one line."""
        names = [*self._texts, *self._shown] or [name for name in (self.image,) if name]
        texts = filter(None, (self.cell(row, name) for name in names))
        first = [text for text, _ in zip(texts, range(N_PREVIEW_CELLS), strict=False)]
        line = " · ".join(" ".join(text[:MAX_PREVIEW_CHARACTERS].split()) for text in first)
        return line[: MAX_PREVIEW_CHARACTERS - 1] + "…" * (len(line) >= MAX_PREVIEW_CHARACTERS)

    def search(self, text: str) -> list[int]:
        """Return rows that hold a text in any shown column, or the row with this number."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = text.strip()
        number = text.removeprefix("#")
        found = []
        if number.isascii() and number.isdigit() and 1 <= int(number[:18]) <= len(self):
            found.append(int(number) - 1)
        names = [name for name in (*self._texts, *self._shown, self.image) if name]
        if not text or not names:
            return found
        has = None
        for name in names:
            column = self.table[name].cast(pa.string())
            here = pc.match_substring(column, text, ignore_case=True).fill_null(False)
            has = here if has is None else pc.or_(has, here)
        rows = pc.indices_nonzero(has)[: MAX_FOUND + 1].to_pylist()
        return list(dict.fromkeys([*found, *rows]))[:MAX_FOUND]
