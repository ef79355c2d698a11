"""Converts publication dates in pages to ISO 8601."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_MAX_CHARS: Final = 64
_EARLIEST_YEAR: Final = 1990  # no page is older; unfilled templates contain 0001 or 1970
_LATEST_YEAR: Final = 2100
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_DAY_ONLY: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_MONTH_FIRST: Final = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})")
_LINE_CHARS: Final = 200  # a longer line is no byline
_SEPARATORS: Final = re.compile(r"[|·•∙/]|\s[-–—]\s")  # noqa: RUF001 - dashes as pages have them
_STATED: Final = re.compile(
    r"(?:(?:by .{1,60}? )?(?:first )?(?:published|posted|released|written|date)(?: on)?:? )?"
    r"(?:on )?(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
    r"(?P<date>\d{4}-\d{2}-\d{2}|[a-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\d{1,2}(?:st|nd|rd|th)? [a-z]{3,9}\.?,? \d{4})"
    r"(?:,? (?:at )?\d{1,2}[:.]\d{2}(?: ?[ap]\.?m\.?)?(?: [a-z]{2,5})?)?\.?",
    re.IGNORECASE,
)
_DAY_FIRST: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? ([A-Za-z]{3,9})\.?,? (\d{4})")


def publish_date(*sources: Iterable[str]) -> str | None:
    """Return the first readable date of the sources, in order: an ISO 8601 date or time.

    A time keeps its UTC offset, and has none if the page gives none.
    """
    for source in sources:
        for text in source:
            found = _parse(" ".join(text.split()))
            if found is not None and _EARLIEST_YEAR <= found.year <= _LATEST_YEAR:
                return found.isoformat()
    return None


def stated(lines: Iterable[str]) -> Iterator[str]:
    """Yield dates that fill a part of a line, optionally after a word such as "published".

    Skips dates of updates and dates within a sentence.
    """
    for line in lines:
        if len(line) <= _LINE_CHARS:
            for part in _SEPARATORS.split(line):
                if match := _STATED.fullmatch(" ".join(part.split())):
                    yield match["date"]


def _parse(text: str) -> date | None:
    if not text or len(text) > _MAX_CHARS:
        return None
    return _iso(text) or _written_out(text) or _internet_message(text)


def _iso(text: str) -> date | None:
    try:
        if _DAY_ONLY.fullmatch(text):
            year, month, day = map(int, re.split(r"[-/.]", text))
            return date(year, month, day)
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.date() if len(text) <= len("2024-W01-1") else moment


def _internet_message(text: str) -> date | None:
    """Parse RFC 5322, as used in feeds and HTTP; -0000 means an unknown zone."""
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _written_out(text: str) -> date | None:
    """Parse an English date such as "March 5, 2024" or "5 March 2024"."""
    if match := _MONTH_FIRST.fullmatch(text):
        name, day, year = match.groups()
    elif match := _DAY_FIRST.fullmatch(text):
        day, name, year = match.groups()
    else:
        return None
    try:
        return date(int(year), _MONTHS.index(name[:3].lower()) + 1, int(day))
    except ValueError:
        return None
