"""Read files of URLs line by line, in bounded memory and from any line on."""

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from pydantic import ValidationError

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import FileEntry, FileLine, Format
from spinneret.kernel import bounds
from spinneret.kernel.errors import ContentRefused, ValidationFailed, field_error
from spinneret.kernel.field_messages import message_of

Read = Callable[[int, int], bytes]
"""Function of (first, end) that returns these bytes of the file."""

_BOM: Final = b"\xef\xbb\xbf"
_END: Final = "\x00"  # text files don't contain this character
_SEPARATORS: Final = (",", ";", "\t")


@dataclass(frozen=True, kw_only=True)
class RawLine:
    """One line; if it can't be decoded, `text` is None and `problem` holds the reason."""

    number: int
    text: str | None
    problem: str | None
    next_offset: int


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Layout of a CSV file."""

    separator: str
    url: int
    """Index of the URL column, from 0."""
    names: int | None
    """Number of the line that names the columns; None if no line does."""


def check_text(head: bytes) -> None:
    """Raise ContentRefused if the file doesn't begin with UTF-8 text."""
    whole = head
    if len(head) >= limits.INBOX_HEAD_BYTES:  # the cut may be within a character
        whole = head[: head.rfind(b"\n") + 1] or head[:-4]
    try:
        text = whole.decode()
    except UnicodeDecodeError as error:
        if len(head) >= limits.INBOX_HEAD_BYTES and b"\n" not in head:
            return  # a single long line is reported as an error of that line
        raise ContentRefused("the file isn't text in UTF-8") from error
    if _END in text:
        raise ContentRefused("the file isn't text in UTF-8")


def columns_of(head: bytes) -> Columns:
    """Detect the layout of a CSV file. Raises ContentRefused if no column holds URLs."""
    texts = head.removeprefix(_BOM).decode("utf-8", "replace").splitlines()
    filled = ((number, text) for number, text in enumerate(texts, 1) if text.strip())
    number, first = next(filled, (0, None))
    if first is None:
        return Columns(separator=",", url=0, names=None)
    for separator in sorted(_SEPARATORS, key=first.count, reverse=True):
        found = _columns(texts, separator, number)
        if found is not None:
            return found
    raise ContentRefused("no column of the file holds URLs")


def lines_of(read: Read, size: int, number: int, offset: int) -> Iterator[RawLine]:
    """Yield the lines from `number` on, which begins at `offset`; too long lines have no text."""
    held, start, at, dropping = b"", offset, offset, False
    while at < size:
        chunk = read(at, min(at + limits.INBOX_READ_BYTES, size))
        at += len(chunk)
        *whole, held = (held + chunk).split(b"\n")
        for raw in whole:
            start += len(raw) + 1
            yield _line(number, None if dropping else raw, start)
            number, dropping = number + 1, False
        if len(held) > limits.INBOX_LINE_MAX_BYTES:
            start, held, dropping = start + len(held), b"", True
    if held or dropping:
        yield _line(number, None if dropping else held, size)


def entries_of(
    form: Format, lines: Iterable[RawLine], columns: Columns | None
) -> Iterator[FileEntry]:
    """Yield the entries of the lines; comments and empty lines yield none."""
    if form is Format.CSV:
        assert columns is not None  # read from the file's head
        yield from _records(lines, columns)
        return
    for line in lines:
        text = (line.text or "").strip()
        if line.text is None:
            yield _bad(line, line.problem or "")
        elif form is Format.TXT and text and not text.startswith("#"):
            yield _entry(line, line, partial(FileLine, url=text), text)
        elif form is Format.JSONL and text:
            yield _entry(line, line, partial(FileLine.model_validate_json, text), None)


def _columns(texts: Sequence[str], separator: str, first: int) -> Columns | None:
    """Find the URL column by the names in the first record, or by the first URL.

    `first` is the number of the line in which that record begins.
    """
    try:
        rows = [row for row in csv.reader(texts, delimiter=separator) if row]
    except csv.Error:
        return None
    names = [cell.strip().lower() for cell in rows[0]]
    if "url" in names:
        return Columns(separator=separator, url=names.index("url"), names=first)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if _is_url(cell):
                has_names = number > 0
                return Columns(separator=separator, url=column, names=first if has_names else None)
    return None


def _line(number: int, raw: bytes | None, next_offset: int) -> RawLine:
    text, problem = None, None
    if raw is None or len(raw) > limits.INBOX_LINE_MAX_BYTES:
        problem = f"a line has at most {limits.INBOX_LINE_MAX_BYTES} bytes"
    else:
        try:
            text = (raw.removeprefix(_BOM) if number == 1 else raw).decode()
        except UnicodeDecodeError:
            problem = "the line isn't text in UTF-8"
    return RawLine(number=number, text=text, problem=problem, next_offset=next_offset)


def _records(lines: Iterable[RawLine], columns: Columns) -> Iterator[FileEntry]:
    """Yield CSV records, which may contain quoted line breaks.

    After an unclosed quote, reading resumes at the next line.
    """
    source, again = iter(lines), deque[RawLine]()
    while (first := _next(again, source)) is not None:
        if first.text is None:
            yield _bad(first, first.problem or "")
            continue
        parts = [first]
        try:
            row = _row([first.text], columns)
            while row is None and len(parts) < limits.INBOX_RECORD_LINES:
                line = _next(again, source)
                if line is None or line.text is None:
                    if line is not None:
                        again.appendleft(line)
                    break
                parts.append(line)
                row = _row([f"{part.text}\n" for part in parts], columns)
        except csv.Error:
            row = None
        if row is None:
            again.extendleft(reversed(parts[1:]))
            yield _bad(first, "the line isn't CSV: a quote isn't closed")
        elif first.number != columns.names and any(cell.strip() for cell in row):
            cell = row[columns.url].strip() if columns.url < len(row) else ""
            yield _entry(first, parts[-1], partial(FileLine, url=cell), cell or None)


def _next(again: deque[RawLine], source: Iterator[RawLine]) -> RawLine | None:
    return again.popleft() if again else next(source, None)


def _row(texts: Sequence[str], columns: Columns) -> list[str] | None:
    """Parse the record of these lines; return None if a quote is open, [] for an empty line."""
    *rows, last = list(csv.reader([*texts, _END], delimiter=columns.separator))
    if last != [_END]:
        return None
    return rows[0] if rows else []


def _entry(
    first: RawLine, last: RawLine, asked: Callable[[], FileLine], url: str | None
) -> FileEntry:
    try:
        line = asked()
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        fields = [
            field_error(".".join(map(str, each["loc"])), message_of(each))
            for each in found[: limits.INBOX_FIELDS_SHOWN]
        ]
        problem = ValidationFailed("the line can't be read", details={"fields": fields})
        return FileEntry(
            number=first.number,
            asked=None,
            url=None if url is None else url[: bounds.URL_MAX_CHARS],
            problem=problem,
            next_line=last.number + 1,
            next_offset=last.next_offset,
        )
    return FileEntry(
        number=first.number,
        asked=line,
        url=line.url,
        next_line=last.number + 1,
        next_offset=last.next_offset,
    )


def _bad(line: RawLine, problem: str) -> FileEntry:
    return FileEntry(
        number=line.number,
        asked=None,
        problem=ValidationFailed(problem),
        next_line=line.number + 1,
        next_offset=line.next_offset,
    )


def _is_url(cell: str) -> bool:
    return cell.strip().lower().startswith(("http://", "https://"))
