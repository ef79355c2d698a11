"""Relevance of a page, estimated from its URL and the words of a link to it.

Each term of the query gets the best strength of a matching word of the candidate:

    1.0   a word of the link's text or title
    1.0   a word of the last segment of the path
    0.8   a word of an earlier segment
    0.6   a word of the query
    0.5   a word of the host

times 0.8 if one word is only a prefix of the other (`install` and `installing`). The prefix has at
least four letters; the other word is at most three letters longer.

* A *query* is one thing to look for, and every word of it counts: the relevance is the mean of its
  terms' strengths. Words that carry no meaning are left out, unless there are no others.
* *Keywords* are several things, each of them enough: the relevance is 1 - (1 - 0.6 s) (1 - 0.6 s')
  … over their strengths s, s' …; one full match is 0.6, two are 0.84. The strength of a keyword of
  several words is the mean over them.

Results are in 0 … 1, rounded to thousandths, so that an order doesn't depend on the last bit.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Self
from urllib.parse import unquote

from spinneret.web.fetching.urls import Url

PLACES: Final = 3
_IN_TEXT: Final = 1.0
_IN_LAST_SEGMENT: Final = 1.0
_IN_SEGMENT: Final = 0.8
_IN_QUERY: Final = 0.6
_IN_HOST: Final = 0.5
_BEGINS_ALIKE: Final = 0.8
_STEM_CHARS: Final = 4
_ENDING_CHARS: Final = 3
_ONE_KEYWORD: Final = 0.6  # above the default threshold of 0.4; half a match is below it

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EXTENSION: Final = re.compile(r"\.(?:html?|php|aspx?|jsp|xhtml|md|txt)$", re.IGNORECASE)
_EMPTY_WORDS: Final = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "i", "in", "is"),
        *("it", "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where"),
        *("which", "who", "why", "will", "with", "you", "your"),
    }
)


def words_of(text: str) -> list[str]:
    """Return the words in lower case, each once, in order; `camelCase` is two words."""
    split = _WORD.findall(_HUMP.sub(" ", text))
    return list(dict.fromkeys(word.casefold() for word in split))


@dataclass(frozen=True)
class Relevance:
    """Built by `to_query` or `to_keywords`; without a term every page is fully relevant."""

    terms: tuple[tuple[str, ...], ...]
    """Terms, each with its words."""
    needs_all: bool

    @classmethod
    def to_query(cls, query: str) -> Self:
        """Return the relevance to one query."""
        words = words_of(query)
        telling = [word for word in words if word not in _EMPTY_WORDS] or words
        return cls(terms=tuple((word,) for word in telling), needs_all=True)

    @classmethod
    def to_keywords(cls, keywords: Iterable[str]) -> Self:
        """Return the relevance to any of several keywords or phrases."""
        terms = (tuple(words_of(keyword)) for keyword in keywords)
        return cls(terms=tuple(dict.fromkeys(filter(None, terms))), needs_all=False)

    def of(self, url: Url, text: str = "") -> float:
        """Return the relevance, 0 … 1, of a URL and its text: a link's text or a title."""
        if not self.terms:
            return 1.0
        strengths = _strengths(url, text)
        stems = _stems(strengths)
        met = [
            sum(_met(word, strengths, stems) for word in term) / len(term) for term in self.terms
        ]
        if self.needs_all:
            return round(sum(met) / len(met), PLACES)
        return round(1 - prod(1 - _ONE_KEYWORD * strength for strength in met), PLACES)


def _strengths(url: Url, text: str) -> dict[str, float]:
    """Map each word to the best strength of its places."""
    *folders, page = url.path.rstrip("/").split("/")
    places: Sequence[tuple[float, str]] = (
        (_IN_HOST, url.host),
        (_IN_QUERY, unquote(url.query)),
        (_IN_SEGMENT, unquote(" ".join(folders))),
        (_IN_LAST_SEGMENT, unquote(_EXTENSION.sub("", page))),
        (_IN_TEXT, text),
    )
    return {word: strength for strength, place in places for word in words_of(place)}


def _stems(strengths: dict[str, float]) -> dict[str, float]:
    """Map each beginning that a longer word shares with it to the best strength of such words.

    It spares each term a look at every word: a hostile URL has hundreds of them.
    """
    stems: dict[str, float] = {}
    for word, strength in strengths.items():
        for stem in _beginnings(word):
            stems[stem] = max(strength, stems.get(stem, 0.0))
    return stems


def _met(term: str, strengths: dict[str, float], stems: dict[str, float]) -> float:
    shorter = (strengths.get(stem, 0.0) for stem in _beginnings(term))
    alike = max(stems.get(term, 0.0), *shorter, 0.0)
    return max(strengths.get(term, 0.0), alike * _BEGINS_ALIKE)


def _beginnings(word: str) -> Iterator[str]:
    """Yield the shorter words that begin alike."""
    for length in range(max(_STEM_CHARS, len(word) - _ENDING_CHARS), len(word)):
        yield word[:length]
