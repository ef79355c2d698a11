"""Dates in sitemaps and feeds."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_YEAR_AND_MONTH: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2})?", re.ASCII)
_FULL_DATE: Final = "1970-01-01"
_DATE_MAX_CHARS: Final = 64


def parse_date(text: str) -> datetime | None:
    """Parse a W3C date-time (sitemaps, Atom) or RFC 5322 date (RSS) to UTC; None for other text.

    A missing part is the first: a year means its first moment. A missing zone means UTC.
    """
    text = text.strip()
    if not text or len(text) > _DATE_MAX_CHARS:
        return None
    if _YEAR_AND_MONTH.fullmatch(text):
        text += _FULL_DATE[len(text) :]
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
            return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None
