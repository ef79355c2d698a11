"""URLs that a site generates without end: the same page under ever new names.

The frontier detects traps that only the content reveals: pages equal to an earlier one.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from spinneret.web.exploring import limits
from spinneret.web.fetching.urls import Url, cache_url

_SESSION_NAMES: Final = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|session_?id|sess_?id|oscsid|zenid)",
    re.IGNORECASE,
)
_MAYBE_SESSION_NAMES: Final = re.compile(r"(?:sid|s|session|sess)", re.IGNORECASE)
# Short values are pages of a catalogue; long random text can't be.
_RANDOM_TEXT: Final = re.compile(r"(?=[A-Za-z-]*[0-9])[0-9A-Za-z-]{16,}")
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_ASP_SESSION: Final = re.compile(r"/\((?:[A-Za-z]\([^()/]*\))+\)(?=/|$)")  # ASP.NET, cookieless

# Numbers that may also be ids, such as a year alone or `20310512`, are dates only under a name that
# says so. A site of numbered pages is no calendar.
_YEAR: Final = r"(?:19|2[01])[0-9]{2}"
_DATE: Final = re.compile(rf"({_YEAR})-[01]?[0-9](?:-[0-3]?[0-9])?")
_PATH_DATE: Final = re.compile(rf"/({_YEAR})/[01]?[0-9](?:/[0-3]?[0-9])?")
_NAMED_DATE: Final = re.compile(rf"({_YEAR})(?:[01][0-9](?:[0-3][0-9])?)?")
_DATE_NAMES: Final = re.compile(
    r"(?:\w*[_-])?(?:cal(?:endar)?|year|yr|month|mon|mo|week|wk|day|date)(?:[_-]\w*)?",
    re.IGNORECASE,
)
_DATE_NAME_MAX_CHARS: Final = 64  # a longer name would be searched in quadratic time
_DIGITS: Final = re.compile(r"[0-9]{1,8}")
_ANY: Final = "#"  # never in a path or a query, which end before it


class Trap(StrEnum):
    """Why a URL isn't followed."""

    TOO_DEEP = "path_too_deep"
    REPEATED_SEGMENTS = "repeated_segments"
    TOO_MANY_PARAMETERS = "too_many_parameters"
    CALENDAR = "calendar"


@dataclass(frozen=True)
class Calendar:
    """A URL whose last part is a date: one page of a calendar or an archive."""

    shape: str
    """URL without its date, common to all pages of the calendar."""
    year: int | None


def trap_of(url: Url, year: int) -> Trap | None:
    """Return the trap that a URL looks like, or None; `year` is the current year."""
    segments = [segment for segment in url.path.split("/") if segment]
    if len(segments) > limits.TRAP_SEGMENTS_MAX:
        return Trap.TOO_DEEP
    if _repeats(segments):
        return Trap.REPEATED_SEGMENTS
    if url.query.count("&") >= limits.TRAP_PARAMETERS_MAX:
        return Trap.TOO_MANY_PARAMETERS
    calendar = calendar_of(url)
    if calendar is not None and calendar.year is not None:
        first, last = year - limits.CALENDAR_YEARS_BACK, year + limits.CALENDAR_YEARS_AHEAD
        if not first <= calendar.year <= last:
            return Trap.CALENDAR
    return None


def calendar_of(url: Url) -> Calendar | None:
    """Return the calendar of a URL with a date at the end of its path or in its query, or None."""
    path, year = _without_date(url.path)
    parameters, in_query = _without_dates(url.query)
    if path == url.path and parameters == url.query:
        return None
    return Calendar(shape=f"{url.origin}{path}?{parameters}", year=year or in_query)


def identity_of(url: Url) -> str:
    """Return the URL that identifies the page in a frontier: canonical, sorted, no session ids."""
    path = _PATH_SESSION.sub("", url.path)
    path = _ASP_SESSION.sub("", path) or "/"
    parameters = [each for each in url.query.split("&") if not _is_session(each)]
    return cache_url(replace(url, path=path, query="&".join(parameters)))


def has_session_id(url: Url) -> bool:
    """Return whether the path or the query contains a session id."""
    in_path = _PATH_SESSION.search(url.path) or _ASP_SESSION.search(url.path)
    return in_path is not None or any(map(_is_session, url.query.split("&")))


def _is_session(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    if _SESSION_NAMES.fullmatch(name):
        return True
    return bool(_MAYBE_SESSION_NAMES.fullmatch(name) and _RANDOM_TEXT.fullmatch(value))


def _repeats(segments: list[str]) -> bool:
    """Whether a run of segments occurs three times in a row: `/a/b/a/b/a/b`."""
    times = limits.TRAP_REPETITIONS_MAX + 1
    for length in range(1, len(segments) // times + 1):
        same = 0
        for here, there in zip(segments, segments[length:], strict=False):
            same = same + 1 if here == there else 0
            if same == length * (times - 1):
                return True
    return False


def _without_date(path: str) -> tuple[str, int | None]:
    """Return the path without the date at its end, and the date's year."""
    trimmed = path.rstrip("/")
    if not trimmed[-1:].isdigit():  # most paths
        return path, None
    folder, _, last = trimmed.rpartition("/")
    if found := _DATE.fullmatch(last):
        return f"{folder}/{_ANY}", int(found[1])
    for parts in (2, 3):  # /2031/05, /2031/05/12
        start = _start_of_last(trimmed, parts)
        if start is not None and (found := _PATH_DATE.fullmatch(trimmed, start)):
            return f"{trimmed[:start]}/{_ANY}", int(found[1])
    return path, None


def _start_of_last(path: str, segments: int) -> int | None:
    start = len(path)
    for _ in range(segments):
        start = path.rfind("/", 0, start)
        if start < 0:
            return None
    return start


def _without_dates(query: str) -> tuple[str, int | None]:
    """Return the query with its dates replaced by a mark, and the first year in it."""
    if not query:
        return query, None
    years: list[int] = []
    kept: list[str] = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        named = len(name) <= _DATE_NAME_MAX_CHARS and _DATE_NAMES.fullmatch(name) is not None
        found = _DATE.fullmatch(value) or (_NAMED_DATE.fullmatch(value) if named else None)
        if found:
            years.append(int(found[1]))
        is_date = found or (named and _DIGITS.fullmatch(value))
        kept.append(f"{name}={_ANY}" if is_date else parameter)
    return "&".join(kept), next(iter(years), None)
