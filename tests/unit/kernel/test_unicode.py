"""Composing texts in linear time."""

import unicodedata

import pytest

from spinneret.kernel.unicode import composed


@pytest.mark.parametrize(
    "text",
    [
        "Cafe\u0301, \u1e9b\u0323, \u0958 and \u00e5",
        "क्षि " * 40,
        "👩‍👩‍👧‍👦" * 40,
        "—" * 100,
        "a" + "\u0301" * 30,
    ],
    ids=["accents", "Devanagari", "emoji", "dashes", "thirty marks"],
)
def test_texts_of_languages_are_composed_whole(text: str) -> None:
    assert composed(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("marks", "kept"),
    [("\u0315\u0300", 30), ("\u0f73", 60), ("\u0344\u0316", 45), ("\u0315\u0300\u2014", 100_000)],
    ids=["two classes", "one that is two", "both", "on many characters"],
)
def test_a_character_keeps_thirty_marks_which_are_sorted_at_once(marks: str, kept: int) -> None:
    """Sorting all of them would take minutes."""
    text = composed(f"a{marks * (100_000 // len(marks))}z")
    assert text.endswith("z")
    assert kept - 2 <= len(text) - 2 <= kept
