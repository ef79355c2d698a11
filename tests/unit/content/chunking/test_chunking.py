"""Chunks contain the whole text within their limits and are cut where its structure allows."""

import re
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.chunking.chunks import chunk
from spinneret.content.chunking.models import Chunk, ChunkType, TokenSpan


def words(text: str) -> list[TokenSpan]:
    """Return tokens of up to six letters or one mark, as a tokenizer without blanks does."""
    return [
        TokenSpan(start=found.start(), end=found.end())
        for found in re.finditer(r"\w{1,6}|[^\w\s]", text)
    ]


def characters(text: str) -> list[TokenSpan]:
    """Return one token per character, including blanks."""
    return [TokenSpan(start=index, end=index + 1) for index in range(len(text))]


def blanks_first(text: str) -> list[TokenSpan]:
    """Return tokens of words with their leading blanks, as byte-level tokenizers do."""
    return [
        TokenSpan(start=found.start(), end=found.end())
        for found in re.finditer(r"\s*\S{1,4}", text)
    ]


def with_empty_ones(text: str) -> list[TokenSpan]:
    """Return words and empty tokens: at the start, in between and, out of order, at the end."""
    spans = [
        span
        for token in words(text)
        for span in (TokenSpan(start=token.start, end=token.start), token)
    ]
    return [TokenSpan(start=0, end=0), *spans, TokenSpan(start=0, end=0)]


class Sizes(NamedTuple):
    size: int
    overlap: int
    minimum: int
    max_bytes: int


LINES = st.one_of(
    st.text(alphabet="ab .!\t漢é😀|`#-", max_size=40),
    st.sampled_from(
        ["# Head", "## Another head ##", "```", "~~~", "| a | b |", "| --- | --- |", "- item", ""]
    ),
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)
TOKENIZERS = st.sampled_from([words, characters, blanks_first, with_empty_ones])


@st.composite
def all_sizes(draw: st.DrawFn) -> Sizes:
    size = draw(st.integers(2, 60))
    return Sizes(
        size=size,
        overlap=draw(st.integers(0, size // 2)),
        minimum=draw(st.integers(1, size // 2)),
        max_bytes=draw(st.sampled_from([4, 7, 50, 10_240])),
    )


def cut(text: str, tokens: list[TokenSpan], sizes: Sizes) -> list[Chunk]:
    return chunk(text, tokens, **sizes._asdict())


# covers C-04
@given(text=TEXTS, tokenizer=TOKENIZERS, sizes=all_sizes())
def test_chunks_are_exact_slices_that_hold_every_character_in_order(text, tokenizer, sizes):
    chunks = cut(text, tokenizer(text), sizes)

    assert [found.index for found in chunks] == list(range(len(chunks)))
    assert all(text[found.start : found.end] == found.text for found in chunks)
    assert all(found.text.strip() == found.text != "" for found in chunks)
    assert all(a.start <= b.start and a.end < b.end for a, b in pairwise(chunks))
    covered = {index for found in chunks for index in range(found.start, found.end)}
    assert all(text[index].isspace() for index in range(len(text)) if index not in covered)


# covers T-06
@given(text=TEXTS, tokenizer=TOKENIZERS, sizes=all_sizes())
def test_no_chunk_is_over_a_bound(text, tokenizer, sizes):
    tokens = tokenizer(text)

    for found in cut(text, tokens, sizes):
        inside = [t for t in tokens if found.start <= t.start < t.end <= found.end]
        assert len(inside) <= found.token_count <= sizes.size
        assert len(found.text.encode()) <= sizes.max_bytes


@given(text=TEXTS, tokenizer=TOKENIZERS, sizes=all_sizes(), whole=st.booleans())
def test_no_chunk_is_under_the_minimum_unless_the_text_is(text, tokenizer, sizes, whole):
    highest = sizes.size - sizes.size // 4  # the rest may be for the header of a table
    minimum = highest if whole else min(sizes.minimum, highest)
    sizes = sizes._replace(max_bytes=10_240, minimum=minimum)
    tokens = tokenizer(text)

    counts = [found.token_count for found in cut(text, tokens, sizes)]

    if len(tokens) < sizes.minimum:
        assert len(counts) <= 1
    else:
        assert all(count >= sizes.minimum for count in counts)


@given(text=TEXTS, tokenizer=st.sampled_from([words, characters]), sizes=all_sizes())
def test_neighbours_share_no_more_than_the_overlap_and_never_cut_a_token(text, tokenizer, sizes):
    sizes = sizes._replace(max_bytes=10_240)
    tokens = tokenizer(text)
    starts, ends = {t.start for t in tokens}, {t.end for t in tokens}

    chunks = cut(text, tokens, sizes)

    assert all(found.start in starts and found.end in ends for found in chunks)
    for first, second in pairwise(chunks):
        shared = [t for t in tokens if second.start <= t.start and t.end <= first.end]
        assert len(shared) <= sizes.overlap


@given(sizes=all_sizes(), count=st.integers(0, 400))
def test_the_number_of_chunks_is_bounded_by_the_length(sizes, count):
    text = "word " * count

    chunks = cut(text, words(text), sizes._replace(max_bytes=10_240))

    # Every window but the last holds at least three quarters of its size or of the remaining text.
    new_tokens = max(1, sizes.size * 3 // 4 - sizes.overlap)
    assert len(chunks) <= count / new_tokens + 2


def test_consecutive_chunks_of_prose_overlap_by_about_the_overlap() -> None:
    text = "one two three four five six seven eight nine. " * 40

    chunks = cut(text, words(text), Sizes(size=100, overlap=20, minimum=10, max_bytes=10_240))

    shared = [len(words(text[b.start : a.end])) for a, b in pairwise(chunks)]
    assert all(10 <= count <= 20 for count in shared)


def test_a_text_shorter_than_the_minimum_is_one_chunk() -> None:
    chunks = cut("just this", words("just this"), Sizes(512, 50, 50, 10_240))

    assert [found.text for found in chunks] == ["just this"]


@pytest.mark.parametrize("text", ["", "  \n\n\t "])
def test_a_blank_text_has_no_chunks(text: str) -> None:
    assert cut(text, [], Sizes(512, 50, 50, 10_240)) == []


def test_text_that_the_tokenizer_passes_over_is_kept() -> None:
    text = "\x0b☃ seen ☃ unseen"

    (found,) = cut(text, [TokenSpan(start=3, end=7)], Sizes(512, 50, 50, 10_240))

    assert found.text == "☃ seen ☃ unseen"


def test_a_token_longer_than_the_bytes_is_cut_between_characters() -> None:
    text = "😀" * 10

    chunks = cut(text, [TokenSpan(start=0, end=10)], Sizes(512, 0, 1, 12))

    assert [found.text for found in chunks] == ["😀" * 3, "😀" * 3, "😀" * 3, "😀"]
    assert all(found.token_count == 1 for found in chunks)


def test_tokens_that_share_a_character_stay_together() -> None:
    text = "a😀b"
    tokens = [
        TokenSpan(start=start, end=end) for start, end in [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    ]

    chunks = cut(text, tokens, Sizes(size=3, overlap=0, minimum=1, max_bytes=100))

    assert [(found.text, found.token_count) for found in chunks] == [("a", 1), ("😀", 3), ("b", 1)]


MANY = "alpha " * 17


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{MANY}alpha\n# Alpha\nalpha", "\n\nbeta beta beta beta"),
        (f"{MANY}alpha\n- alpha alpha", "\n# Beta beta beta beta"),
        (f"{MANY}alpha. Alpha alpha", "\n- beta beta beta beta"),
        (f"{MANY}alpha\nalpha alpha.", " Beta beta beta beta"),
        (f"{MANY}alpha alpha alpha", "\nbeta beta beta beta"),
        ("\u6f22" * 19 + "\u3002", "\u5b57" * 8),
    ],
    ids=["blank line", "heading", "list item", "sentence", "line", "sentence without blanks"],
)
def test_a_chunk_ends_at_the_best_boundary_near_its_end(before: str, after: str) -> None:
    """Near the end of the window, each text also contains the next best kind of boundary."""
    text = before + after
    tokens = [
        TokenSpan(start=found.start(), end=found.end())
        for found in re.finditer(r"[a-zA-Z]+|[^a-zA-Z\s]", text)
    ]

    chunks = cut(text, tokens, Sizes(size=23, overlap=0, minimum=1, max_bytes=1000))

    assert chunks[0].text == before


def test_a_word_is_not_cut_when_a_blank_is_near() -> None:
    text = "aaaa bbbb " + "c" * 24

    chunks = cut(text, words(text), Sizes(size=5, overlap=0, minimum=1, max_bytes=1000))

    assert [found.text for found in chunks] == ["aaaa bbbb", "c" * 24]


def test_a_fence_that_fits_is_not_cut_and_its_heading_stays_with_it() -> None:
    code = "```python\n# no heading\n\nx = 1\n```"
    text = (
        f"Some words.\n\nMore words before it.\n\n# Example\n\n{code}\n\nWords after it, and more."
    )

    chunks = cut(text, words(text), Sizes(size=22, overlap=4, minimum=3, max_bytes=1000))

    assert chunks[0].text.endswith("before it.")
    assert chunks[1].text.endswith(f"# Example\n\n{code}")


def test_a_fence_that_is_too_long_is_cut_at_its_lines() -> None:
    text = "```\n" + "a = b\n" * 50 + "```"

    chunks = cut(text, words(text), Sizes(size=32, overlap=0, minimum=3, max_bytes=1000))

    assert len(chunks) > 3
    assert all(re.match(r"```|a = b", found.text) for found in chunks)
    assert all(re.search(r"```\Z|a = b\Z", found.text) for found in chunks)


def test_rows_of_a_table_are_not_cut() -> None:
    rows = [f"| cell {number} | other cell {number} |" for number in range(30)]
    text = "\n".join(["| a | b |", "| --- | --- |", *rows])

    chunks = cut(text, words(text), Sizes(size=40, overlap=8, minimum=3, max_bytes=1000))

    assert len(chunks) > 3
    assert all(line in text.split("\n") for found in chunks for line in found.text.split("\n"))
    assert all(found.type is ChunkType.TABLE for found in chunks)


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("no heading", None),
        ("# One\n\nwords", "One"),
        ("   ### Deep ##\n\nwords", "Deep"),
        ("#hashtag\n\nwords", None),
        ("before\n\n# One", None),
        ("```\n# comment\n```", None),
        ("####### seven", None),
        ("#", None),
    ],
)
def test_the_section_is_the_heading_above_or_at_the_start(text: str, section: str | None) -> None:
    (found,) = cut(text, words(text), Sizes(512, 50, 50, 10_240))

    assert found.section == section


# covers C-04, S-03
def test_every_chunk_names_the_nearest_heading_above_its_start() -> None:
    parts = [f"## Part {number}\n\n" + "word " * 30 for number in range(5)]
    text = "\n\n".join(parts)

    chunks = cut(text, words(text), Sizes(size=36, overlap=0, minimum=3, max_bytes=1000))

    assert [found.section for found in chunks] == [f"Part {number}" for number in range(5)]


# covers C-04
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("some prose", ChunkType.PROSE),
        ("```\ncode\n```", ChunkType.CODE),
        ("~~~\n- not a list\n~~~", ChunkType.CODE),
        ("| a | b |\n| --- | --- |\n| c | d |", ChunkType.TABLE),
        ("- a\n- b\n  goes on", ChunkType.LIST),
        ("1. a\n2. b", ChunkType.LIST),
        ("a longer line of prose\n- b", ChunkType.PROSE),
        ("short\n\n```\nmuch more code\n```", ChunkType.CODE),
        ("```\nnever closed", ChunkType.CODE),
    ],
)
def test_the_type_is_what_holds_most_characters(text: str, expected: ChunkType) -> None:
    (found,) = cut(text, words(text), Sizes(512, 50, 50, 10_240))

    assert found.type is expected


@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(size=10, overlap=10, minimum=1, max_bytes=100),
        Sizes(size=10, overlap=-1, minimum=1, max_bytes=100),
        Sizes(size=10, overlap=0, minimum=11, max_bytes=100),
        Sizes(size=10, overlap=0, minimum=0, max_bytes=100),
        Sizes(size=10, overlap=0, minimum=1, max_bytes=3),
    ],
)
def test_sizes_that_cannot_be_kept_are_refused(sizes: Sizes) -> None:
    with pytest.raises(ValueError, match="sizes"):
        cut("text", words("text"), sizes)


def paragraph(name: str, count: int) -> str:
    return " ".join(f"{name}{number}." for number in range(count))


def rows(first: int, last: int) -> str:
    return "\n".join(f"| {number} | value |" for number in range(first, last))


HEAD = "| no | what |\n| --- | --- |"


@pytest.mark.parametrize(
    "block",
    [paragraph("b", 30), f"{HEAD}\n{rows(0, 12)}"],
    ids=["paragraph", "table"],
)
def test_a_block_that_fits_is_in_one_chunk(block: str) -> None:
    text = f"{paragraph('a', 25)}\n\n{block}\n\n{paragraph('c', 40)}"

    chunks = chunk(text, words(text), size=100, overlap=10, minimum=10, max_bytes=4096)

    assert len(chunks) > 1
    assert any(block in each.text for each in chunks)


def test_a_continued_table_brings_its_header_rows_and_still_fits() -> None:
    text = f"Before.\n\n{HEAD}\n{rows(0, 60)}\n\nAfter."

    chunks = chunk(text, words(text), size=100, overlap=10, minimum=10, max_bytes=4096)

    continued = [each for each in chunks if each.text.startswith("|") and each.index]
    assert len(continued) > 2
    for each in continued:
        assert each.head == HEAD
        assert each.standing_alone == f"{HEAD}\n{each.text}"
        assert text[each.start : each.end] == each.text
        assert len(words(each.standing_alone)) == each.token_count <= 100
    assert chunks[0].head is None


@pytest.mark.parametrize("first", range(4, 40))
def test_a_table_keeps_its_delimiter_row_with_its_header_wherever_it_is_cut(first: int) -> None:
    head = "| number | its meaning in a few words |\n| --- | --- |"
    row = f"| 0 | {paragraph('v', first)} |"
    text = f"{paragraph('a', 30)}\n\n{head}\n{row}\n{rows(1, 60)}"
    body = text.index(head) + len(head)

    chunks = chunk(text, words(text), size=100, overlap=40, minimum=10, max_bytes=4096)

    for each in chunks:
        assert ("| number |" in each.standing_alone) == ("| --- |" in each.standing_alone)
        if each.start > body:
            assert each.head == head


def test_a_header_that_would_fill_the_chunk_is_not_repeated() -> None:
    wide = "| " + " | ".join(f"column{number}" for number in range(30)) + " |"
    text = f"{wide}\n|{' --- |' * 30}\n{rows(0, 60)}"

    chunks = chunk(text, words(text), size=100, overlap=10, minimum=10, max_bytes=4096)

    assert {each.head for each in chunks} == {None}
