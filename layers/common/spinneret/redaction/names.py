"""Classify names by whether they announce a secret: keys, headers, parameters, variables.

The words of a name decide. The name is secret if one word is a secret's noun, unless a later word
describes the secret (`token_count`, `password_changed_at`), or an earlier word asks or counts
(`has_password`, `max_tokens`).
"""

import re
import unicodedata
from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from spinneret.redaction import encodings, vocabulary
from spinneret.redaction.spans import MARK

LONGEST: Final = 128  # maximum characters that are read, from the name's end
_MOST_WORDS: Final = 9  # a longer name is a sentence
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLAIN: Final = re.compile(
    r"[-_$]{0,2}(?:[a-z]{1,20}(?:[ _.\-][a-z]{1,20}){0,5}|[A-Z]{1,20}(?:[_\-][A-Z]{1,20}){0,5}"
    r"|[A-Z][a-z]{1,15}(?:-[A-Z][a-z]{1,15}){0,5}|[a-z]{1,15}(?:[A-Z][a-z]{1,15}){1,4}"
    r"|(?:[A-Z][a-z]{1,15}){2,4})"
)


class Kind(Enum):
    """Classification of a name by the values that it announces."""

    HARMLESS = auto()
    SECRET = auto()
    PASSWORD = auto()  # secret, may contain blanks
    AUTHORIZATION = auto()  # secret after a scheme
    COOKIE = auto()  # secret values between names and attributes
    AUTH = auto()  # secret unless the value names a procedure
    OPAQUE = auto()  # secret if it looks random
    RANDOM = auto()  # secret if it doesn't look written by hand
    COUNTABLE = auto()  # secret unless it is a number
    DIRECTORY = auto()  # secret unless it is a path: $PWD

    @property
    def certain(self) -> bool:
        """Whether the name alone is decisive."""
        return self in _CERTAIN


_CERTAIN: Final = (Kind.SECRET, Kind.PASSWORD, Kind.AUTHORIZATION, Kind.COOKIE)
_BY_LAST_WORD: Final = {
    "authorization": Kind.AUTHORIZATION,
    **dict.fromkeys(("cookie", "cookies"), Kind.COOKIE),
    **dict.fromkeys(("auth", "auths"), Kind.AUTH),
    **dict.fromkeys(("session", "sessions", "private", "signature", "sig", "hmac"), Kind.OPAQUE),
    **dict.fromkeys(("tokens", "pass"), Kind.COUNTABLE),
}
_NOUNS: Final = vocabulary.NOUNS.union(  # includes phrases written as one word
    map("".join, vocabulary.PHRASES), (f"{owner}key" for owner in vocabulary.KEY_OWNERS)
)
_DIRECTORIES: Final = frozenset({("pwd",), ("oldpwd",), ("old", "pwd")})
_TAILS: Final = frozenset(
    phrase[start:] for phrase in vocabulary.PHRASES for start in range(1, len(phrase))
)


def bounded_cache[Verdict](judge: Callable[[str], Verdict]) -> Callable[[str], Verdict]:
    """Cache results for recent names; longer names than LONGEST aren't cached, to save memory."""
    cached = lru_cache(maxsize=4096)(judge)

    def judged(name: str) -> Verdict:
        return cached(name) if len(name) <= LONGEST else judge(name)

    return judged


@bounded_cache
def kind_of(name: str) -> Kind:
    """Return the kind of a name in any spelling: `X-Api-Key`, `apiKey`, `aPiKeY`."""
    parts = words(name)
    nouns = (_noun_start(parts, end) for end in range(len(parts)))
    if len(parts) > _MOST_WORDS or all(start is None for start in nouns):
        parts = words(name.lower())  # its capitals don't separate words
    if not 0 < len(parts) <= _MOST_WORDS or any(sign in name for sign in ("=", ": ", MARK)):
        return Kind.HARMLESS
    while len(parts) > 1 and parts[-1].isdecimal():  # password2, X-Hub-Signature-256
        parts = parts[:-1]
    if parts in _DIRECTORIES:
        return Kind.DIRECTORY
    if parts == ("sid",):
        return Kind.OPAQUE
    end = _secret_end(parts)
    if end is None:
        return Kind.HARMLESS
    return _BY_LAST_WORD.get(parts[-1]) or (
        Kind.PASSWORD if _is_password(parts[end]) else Kind.SECRET
    )


@bounded_cache
def words(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a name, without accents.

    Names are split at separators, digits and capitals.
    """
    name = encodings.uncoloured(name[-LONGEST:])
    if not name.isascii():
        name = "".join(
            unicodedata.normalize("NFD", character)[0] if character < "\u0250" else character
            for character in unicodedata.normalize("NFKC", name)
            if unicodedata.category(character) != "Cf"
        )
    return tuple(word.lower() for word in _WORD.findall(name))


@bounded_cache
def needs_context(name: str) -> bool:
    """Return whether a preceding word could make the name secret, such as `API` before `key`."""
    parts = words(name)
    if not parts or parts[-1] not in vocabulary.OPEN_ENDED:
        return False
    return parts in _TAILS or vocabulary.AFTER.isdisjoint(parts)  # not `request_id`


def is_plain(text: str) -> bool:
    """Return whether a text could be a field name: letters in a single case style, no digits."""
    return _PLAIN.fullmatch(text) is not None


def _secret_end(parts: tuple[str, ...]) -> int | None:
    """Return the index of the last word of the last noun that no other word makes harmless."""
    for end in range(len(parts) - 1, -1, -1):
        start = _noun_start(parts, end)
        if start is None:
            continue
        before, after = vocabulary.BEFORE, vocabulary.AFTER
        if _is_password(parts[end]):
            after -= vocabulary.AFTER_PASSWORD
        if parts[end] in {"token", "tokens"}:
            before |= vocabulary.BEFORE_TOKEN
        if parts[end] == "tokens":
            before |= vocabulary.BEFORE_TOKENS
        if after.isdisjoint(parts[end + 1 :]) and before.isdisjoint(parts[:start]):
            return end
    return None


def _noun_start(parts: tuple[str, ...], end: int) -> int | None:
    """Return the index at which the noun that ends with this word begins; None without a noun."""
    word = parts[end]
    if word in _NOUNS or word.endswith(vocabulary.ENDINGS):
        return end
    if word in vocabulary.LAST_NOUNS and end + 1 == len(parts):
        return end
    for length in (3, 2):
        if end + 1 >= length and parts[end + 1 - length : end + 1] in vocabulary.PHRASES:
            return end + 1 - length
    before = parts[end - 1] if end else ""
    return end - 1 if word in {"key", "keys"} and before in vocabulary.KEY_OWNERS else None


def _is_password(word: str) -> bool:
    return word in vocabulary.PASSWORDS or word.endswith(vocabulary.PASSWORD_ENDINGS)
