"""A CSV file in which single cells can be changed while everything else stays exactly as it was."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

#: Maximum length of a cell, in characters: Moodle's worksheet may contain whole essays.
CELL_LIMIT = 2**24
BOM = "\ufeff"
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")


class Unfillable(Exception):
    """A file into which scores cannot be filled; the message is one sentence for the instructor."""


def number(text: str) -> float | None:
    """The number in a cell, with a decimal point or comma; None if the cell contains anything else."""
    return float(text.strip().replace(",", ".")) if NUMBER.fullmatch(text.strip()) else None


class CsvFile:
    """The lines of a CSV file. Lines that are not changed are written exactly as they were read.

    Attributes:
        header: the cells of the first line that is not empty.
        rows: the cells of the other lines; change them with :meth:`change`.

    Raises:
        Unfillable: it is not a CSV file, has no row, or has a row whose length differs from the header's.
    """

    def __init__(self, text: str) -> None:
        self._bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        self._delimiter = max(",;\t", key=text.partition("\n")[0].count)
        try:
            self._records = list(_records(text, self._delimiter))
        except csv.Error as error:
            raise Unfillable(f"this is not a CSV file: {error}") from None
        filled = [row for row, _ in self._records if any(cell.strip() for cell in row)]
        if len(filled) < 2:
            raise Unfillable("the file has no rows: export it again")
        self.header, *self.rows = filled
        other = [row for row in self.rows if len(row) != len(self.header)]
        if other:
            raise Unfillable(
                f"a row has {len(other[0])} cells but the header has {len(self.header)}: export the file again"
            )
        self._changed: set[int] = set()

    def change(self, row: list[str], index: int, cell: str) -> None:
        """Set the cell at ``index`` of one of :attr:`rows`."""
        if row[index] != cell:
            row[index] = cell
            self._changed.add(id(row))

    def text(self) -> str:
        """The content of the file."""
        lines = (self._line(row, raw) if id(row) in self._changed else raw for row, raw in self._records)
        return self._bom + "".join(lines)

    def _line(self, row: Sequence[str], raw: str) -> str:
        """A changed line, with quotes and line end like those of ``raw``, the text it was read from."""
        bare = raw.rstrip("\r\n")
        whole = bare.startswith('"') and bare.endswith('"')
        buffer = io.StringIO()  # written with \r\n, so that a cell with either character is quoted
        writer = csv.writer(
            buffer,
            delimiter=self._delimiter,
            lineterminator="\r\n",
            quoting=csv.QUOTE_ALL if whole else csv.QUOTE_MINIMAL,
        )
        writer.writerow(row)
        return buffer.getvalue().removesuffix("\r\n") + raw[len(bare) :]


def _records(text: str, delimiter: str) -> Iterator[tuple[list[str], str]]:
    """Each record of a CSV file, and the text it was read from."""
    csv.field_size_limit(CELL_LIMIT)
    taken: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            taken.append(line)
            yield line

    for row in csv.reader(lines(), delimiter=delimiter, strict=True):
        yield row, "".join(taken)
        taken.clear()
