"""Patterns of URLs, matched in one pass over the text.

    ?     one character, not "/"
    *     any run of characters without "/", also none
    **    any run of characters, also none

Any other character matches itself. A pattern with "://" is compared with the whole URL, any other
one with path and query. A match without the query is enough, so `/docs/*.html` covers
`/docs/a.html?page=2`. As in .gitignore, a pattern without "/" matches in every folder (`*.pdf` is
`**/*.pdf`), and one with "/" begins at the root (`docs/*` is `/docs/*`).

Regular expressions aren't supported: Python's backtrack, and one pattern of a tenant could block a
worker for hours. A glob is a nondeterministic automaton without empty moves, whose set of states
fits into the bits of one number; each character of the text takes one step of a few operations
(Baeza-Yates and Gonnet, "A new approach to text searching", CACM 35(10), 1992).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import quote

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.web.fetching.urls import Url, wanted_host

_WORD: Final = re.compile(r"\*+|\?|[^*?]")
_BLANK_OR_CONTROL: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_HOST_OF: Final = re.compile(r"[^:]*://[^/]*")


@dataclass(frozen=True)
class Glob:
    """One compiled pattern; it must match the whole text."""

    text: str

    def matches(self, text: str) -> bool:
        """Whether the text matches; the time is proportional to its length for every pattern."""
        if not text.startswith(self._head) or not text.endswith(self._tail):
            return False
        steps, any_run, run_in_segment = self._steps, self._any_run, self._segment_run
        other, states = self._any_character, 1
        for character in text:
            if character == "/":
                states = (states & steps.get("/", 0)) << 1 | states & any_run
            else:
                states = (states & steps.get(character, other)) << 1 | states & run_in_segment
            if not states:
                return False
        return bool(states >> self._length)

    @cached_property
    def _words(self) -> list[str]:
        return _WORD.findall(self.text)

    @cached_property
    def _head(self) -> str:
        """Return the literal prefix of the pattern; most texts fail at it."""
        return re.split(r"[*?]", self.text, maxsplit=1)[0]

    @cached_property
    def _tail(self) -> str:
        return re.split(r"[*?]", self.text)[-1]

    @cached_property
    def _length(self) -> int:
        """Return the minimum length of a matching text, which is the number of the last state."""
        return sum(not word.startswith("*") for word in self._words)

    @cached_property
    def _any_character(self) -> int:
        """Return the states from which any character but "/" leads on."""
        singles = [word for word in self._words if not word.startswith("*")]
        return sum(1 << state for state, word in enumerate(singles) if word == "?")

    @cached_property
    def _steps(self) -> dict[str, int]:
        """Map each literal character of the pattern to the states from which it leads on."""
        steps: dict[str, int] = {}
        singles = [word for word in self._words if not word.startswith("*")]
        for state, word in enumerate(singles):
            if word != "?":
                initial = 0 if word == "/" else self._any_character
                steps[word] = steps.get(word, initial) | 1 << state
        return steps

    @cached_property
    def _any_run(self) -> int:
        """Return the states that any character leaves unchanged."""
        return self._loops("**")

    @cached_property
    def _segment_run(self) -> int:
        """Return the states that any character but "/" leaves unchanged."""
        return self._loops("**") | self._loops("*")

    def _loops(self, star: str) -> int:
        state = states = 0
        for word in self._words:
            if not word.startswith("*"):
                state += 1
            elif word == star:
                states |= 1 << state
        return states


@dataclass(frozen=True)
class UrlPatterns:
    """Several patterns, one of which must match; built by `compile_patterns`."""

    of_urls: tuple[Glob, ...] = ()
    of_targets: tuple[Glob, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.of_urls or self.of_targets)

    def match(self, url: Url) -> bool:
        """Whether any pattern covers the URL, with or without its query."""
        if _any(self.of_targets, url.target) or _any(self.of_urls, url.text):
            return True
        if not url.query:
            return False
        return _any(self.of_targets, url.path) or _any(self.of_urls, url.origin + url.path)


def compile_patterns(patterns: Iterable[str], field: str) -> UrlPatterns:
    """Compile patterns. Raises ValidationFailed, whose details name each bad pattern by position.

    Non-ASCII characters are encoded as in URLs: `/bücher/*` is `/b%C3%BCcher/*`, and the host
    `bücher.example` is `xn--bcher-kva.example`.
    """
    given = list(patterns)
    if len(given) > bounds.URL_PATTERNS_MAX:
        raise _refused([field_error(field, f"more than {bounds.URL_PATTERNS_MAX}")])
    reasons = [(number, _fault(pattern)) for number, pattern in enumerate(given)]
    if any(reason for _, reason in reasons):
        raise _refused([field_error(f"{field}.{n}", reason) for n, reason in reasons if reason])
    compiled = [Glob(_ascii(_anchored(pattern))) for pattern in given]
    return UrlPatterns(
        of_urls=tuple(glob for glob in compiled if "://" in glob.text),
        of_targets=tuple(glob for glob in compiled if "://" not in glob.text),
    )


def compile_pattern(pattern: str, field: str) -> UrlPatterns:
    """Compile the only pattern of a field. Raises ValidationFailed, which names the field."""
    if reason := _fault(pattern):
        raise _refused([field_error(field, reason)])
    return compile_patterns([pattern], field)


def _any(globs: Iterable[Glob], text: str) -> bool:
    return any(glob.matches(text) for glob in globs)


def _fault(pattern: str) -> str | None:
    if not pattern:
        return "is empty"
    if len(pattern) > bounds.URL_PATTERN_MAX_CHARS:
        return f"is longer than {bounds.URL_PATTERN_MAX_CHARS} characters"
    if _BLANK_OR_CONTROL.search(pattern):
        return "contains blanks or control characters"
    if "***" in pattern:
        return "has more than two asterisks in a row"
    return None


def _anchored(pattern: str) -> str:
    if "://" in pattern:
        host = _HOST_OF.match(pattern)
        end = host.end() if host else 0  # scheme and host are case-insensitive, paths aren't
        return _host_in_ascii(pattern[:end].lower()) + pattern[end:]
    if "/" not in pattern:
        return f"**/{pattern}"
    return pattern if pattern.startswith(("/", "**")) else f"/{pattern}"


def _host_in_ascii(pattern: str) -> str:
    """Return scheme and host with each label in IDNA; wildcards and the port stay."""
    scheme, _, host = pattern.partition("://")
    name, colon, port = host.partition(":")
    labels = (label if label.isascii() else wanted_host(label) for label in name.split("."))
    return f"{scheme}://{'.'.join(labels)}{colon}{port}"


def _ascii(pattern: str) -> str:
    return "".join(
        character if character.isascii() else quote(character, errors="replace")
        for character in pattern
    )


def _refused(fields: list[dict[str, str]]) -> ValidationFailed:
    return ValidationFailed("not a pattern of URLs", details={"fields": fields})
