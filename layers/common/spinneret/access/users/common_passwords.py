"""The thousand commonest ways to stretch a common password to 15 characters.

Lists of leaked passwords hardly have entries of 15 characters. People reach a required length by
repeating or combining short common ones, so the list is made of these.
"""

from functools import cache
from itertools import islice, product
from typing import Final

from spinneret.access import limits

COMMONEST: Final = 1000
# The first ones of most published lists of leaked passwords, most frequent first.
_WORDS: Final = (
    *("password", "123456", "qwerty", "admin", "welcome", "letmein", "iloveyou", "abc123"),
    *("monkey", "dragon", "master", "sunshine", "princess", "football", "shadow", "superman"),
    *("login", "secret", "changeme", "passw0rd", "p@ssw0rd", "111111", "000000", "1q2w3e4r"),
    *("qwertyuiop", "asdfgh", "zxcvbn", "1234567890", "987654321", "trustno1", "test", "hello"),
)


@cache
def common_passwords() -> frozenset[str]:
    """Return them in lower case."""
    repeated = ((word * limits.PASSWORD_MIN_CHARS)[: limits.PASSWORD_MAX_CHARS] for word in _WORDS)
    whole = (_stretched(word) for word in _WORDS)
    pairs = (_stretched(one + two) for one, two in product(_WORDS, _WORDS) if one != two)
    cut = (each[: limits.PASSWORD_MIN_CHARS] for each in repeated)
    return frozenset(islice(dict.fromkeys((*whole, *cut, *pairs)), COMMONEST))


def _stretched(text: str) -> str:
    """Return whole repetitions of a text, as many as the shortest password needs."""
    return text * -(-limits.PASSWORD_MIN_CHARS // len(text))
