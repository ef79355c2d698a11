"""Rules of a search that call no other service."""

import pytest

from spinneret.content.search import limits
from spinneret.content.search.rules import cut_to_terms

TERMS = {
    "words": ("silk", " ", 1),
    "words with digits and underscores": ("a1_b", " ", 1),
    "letters with marks": ("हिन्दी", " ", 1),
    "hangul": ("거미줄", " ", 1),
    "katakana": ("クモ", " ", 1),
    "halfwidth katakana": ("ｸﾓ", " ", 1),
    "thai": ("ใยแมงมุม", " ", 1),
    "ideographs": ("蜘蛛", "", 2),
    "ideographs beyond the first plane": ("𠀀𠀁", "", 2),
    "iteration marks and radicals": ("々⺀", "", 2),
    "hiragana": ("くも", "", 2),
    "an ideograph after a letter": ("A蛛", "", 2),
    "an ideograph after katakana": ("ク蛛", "", 2),
    "katakana after a letter": ("Aク", "", 2),
    "hiragana after katakana": ("クも", "", 2),
    "thai after a letter": ("Aใ", "", 2),
    "thai digits after thai": ("ก๑", "", 2),
    "a fraction after a letter": ("a½", "", 2),
    "emoji": ("🕷", "", 1),
}
"""A unit, the separator between two units, and the number of terms per unit."""


@pytest.mark.parametrize("name", list(TERMS))
def test_terms_are_counted_as_the_index_makes_them(name: str) -> None:
    unit, between, terms = TERMS[name]
    most = limits.QUERY_TERMS // terms
    full = between.join([unit] * most)
    assert cut_to_terms(full) == full
    assert cut_to_terms(between.join([unit] * (most + 1))).rstrip() == full


def test_a_thousand_ideographs_after_a_letter_are_cut() -> None:
    assert cut_to_terms("A" + "蛛" * 999) == "A" + "蛛" * (limits.QUERY_TERMS - 1)
