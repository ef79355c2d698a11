"""Paths of URLs and rules in comparable form, and their matching (RFC 9309, section 2.2).

The RFC and the parser of its authors (google/robotstxt) differ in two points: escapes that a rule
doesn't need (`%62` for `b`), and octets beyond ASCII in the URL. The RFC normalises both, the
parser compares them as written. Where they differ, the stricter result wins: a Disallow is compared
with both sides normalised, an Allow as written.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Final

_UNRESERVED: Final = frozenset(ascii_letters + digits + "-._~")  # RFC 3986, section 2.3
# "*" and "$" must be escaped in a rule to match themselves, but not in a URL (RFC 9309, section
# 2.2.3); the URL standard escapes "'" in every query.
_ALIKE: Final = frozenset("*$'")
_NEEDLESS: Final = _ALIKE | _UNRESERVED
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_NEVER_IN_A_URI: Final = re.compile(r'[\x00-\x20"<>\\^`{|}\x7f]')  # RFC 3986, appendix A
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~:/?@!$&'()*+,;=-]*")  # same in every form
_BEFORE_PATH: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://)?[^/?#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsTarget:
    """Path and query of a URL, in the forms that rules are compared with."""

    normal: str
    """Form for Disallow: needless escapes are undone, all else is escaped."""
    written: tuple[str, ...]
    """Forms for Allow: as written, and with needless escapes undone."""


def target_of(url: str) -> RobotsTarget:
    """Return the target of a URL without the fragment; an empty path is "/". Accepts any text."""
    target = _BEFORE_PATH.sub("", url, count=1).partition("#")[0]
    if not target.startswith("/"):
        target = f"/{target}"
    if _PLAIN.fullmatch(target):
        return RobotsTarget(normal=target, written=(target,))
    written, plain = _unescaped(target, _ALIKE), _unescaped(target, _NEEDLESS)
    forms = (written,) if written == plain else (written, plain)
    return RobotsTarget(normal=_BEYOND_ASCII.sub(_percent_encoded, plain), written=forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wildcard:
    """A pattern with "*" or a final "$"."""

    octets: int
    pieces: tuple[str, ...]
    """Texts before, between and after the asterisks; a single one if there are none."""
    anchored: bool
    longest_piece: str
    """Occurs in every path that matches; most paths lack it."""

    def matches(self, path: str) -> bool:
        """Whether the path matches; each piece takes its first position, without backtracking."""
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        position = len(first)
        if not others:
            return not self.anchored or position == len(path)
        *middle, last = others
        for piece in middle:
            found = path.find(piece, position)
            if found < 0:
                return False
            position = found + len(piece)
        if self.anchored:
            return len(path) - len(last) >= position and path.endswith(last)
        return path.find(last, position) >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """All Allow or all Disallow patterns of a group, compiled."""

    prefixes: dict[str, int]
    """Pattern without wildcards → its octets."""
    lengths: tuple[int, ...]
    """Lengths of the prefixes, longest first."""
    wildcards: tuple[_Wildcard, ...]
    """Wildcards, most octets first."""

    def longest_match(self, path: str) -> int:
        """Return the octets of the longest pattern that matches the path, or 0."""
        longest = next(
            (self.prefixes[path[:n]] for n in self.lengths if path[:n] in self.prefixes), 0
        )
        for wildcard in self.wildcards:
            if wildcard.octets <= longest:
                break
            if wildcard.longest_piece in path and wildcard.matches(path):
                return wildcard.octets
        return longest


def compile_patterns(patterns: Iterable[str], *, as_written: bool) -> Patterns:
    """Compile ASCII patterns, for `Target.written` if `as_written`, else for `Target.normal`."""
    prefixes: dict[str, int] = {}
    wildcards: set[_Wildcard] = set()
    for pattern in patterns:
        anchored = pattern.endswith("$")
        raw = pattern.removesuffix("$").split("*")
        normal = [_unescaped(piece, _NEEDLESS) for piece in raw]
        # Counted in the normal form, so that needless escapes give an Allow no advantage.
        octets = sum(map(len, normal)) + len(normal) - 1 + anchored
        first, *others = [_unescaped(piece, _ALIKE) for piece in raw] if as_written else normal
        if anchored or others:
            pieces = (first, *filter(None, others[:-1]), *others[-1:])
            wildcards.add(
                _Wildcard(
                    octets=octets,
                    pieces=pieces,
                    anchored=anchored,
                    longest_piece=max(pieces, key=len),
                )
            )
        elif first:
            prefixes[first] = octets
    return Patterns(
        prefixes=prefixes,
        lengths=tuple(sorted({len(prefix) for prefix in prefixes}, reverse=True)),
        wildcards=tuple(sorted(wildcards, key=lambda wildcard: -wildcard.octets)),
    )


def _unescaped(text: str, characters: frozenset[str]) -> str:
    """Undo the escapes of these characters, write others in upper case, add missing ones."""

    def once(escape: re.Match[str]) -> str:
        character = chr(int(escape[0][1:], 16))
        return character if character in characters else escape[0].upper()

    return _NEVER_IN_A_URI.sub(_percent_encoded, _ESCAPE.sub(once, text))


def _percent_encoded(found: re.Match[str]) -> str:
    octets = found[0].encode("utf-8", "surrogatepass")
    return "".join(f"%{octet:02X}" for octet in octets)
