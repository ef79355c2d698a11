"""Chunks by headings and by blocks respect the parts of a text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.chunking.models import Chunking, ChunkingStrategy, TokenSpan
from spinneret.content.chunking.parts import blocks_of, chunked

BY_HEADING, BY_BLOCK = ChunkingStrategy.BY_HEADING, ChunkingStrategy.BY_BLOCK
PIECES = ["# One", "## Two", "words in a row", "- a\n- b", "```\ncode\n```", "| a |\n| --- |", ""]


def words(text: str) -> list[TokenSpan]:
    return [TokenSpan(start=m.start(), end=m.end()) for m in re.finditer(r"\S+", text)]


def texts(markdown: str, strategy: ChunkingStrategy, **sizes: int) -> list[str]:
    chunking = Chunking(strategy=strategy, **{"size": 50, "overlap": 2, "minimum": 3, **sizes})
    chunks = chunked(markdown, words(markdown), chunking, max_bytes=9999)
    assert [each.index for each in chunks] == list(range(len(chunks)))
    assert all(markdown[each.start : each.end] == each.text for each in chunks)
    return [each.text for each in chunks]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from([BY_HEADING, BY_BLOCK]))
def test_the_chunks_hold_every_word(pieces: list[str], strategy: ChunkingStrategy) -> None:
    markdown = "\n\n".join(pieces)
    chunks = texts(markdown, strategy, size=5)
    assert set(" ".join(chunks).split()) == set(markdown.split())


def test_a_chunk_ends_where_a_section_does() -> None:
    markdown = "first words of all\n\n# One\n\na b c\n\nd e f\n\n## Two\n\ng h i"
    assert texts(markdown, BY_HEADING) == [
        "first words of all",
        "# One\n\na b c\n\nd e f",
        "## Two\n\ng h i",
    ]


def test_every_block_is_a_chunk_and_a_heading_goes_with_the_one_below_it() -> None:
    markdown = "# One\n\na b c\n\n- d e\n- f\n\n```\ng\n\nh i\n```\n\n| j | k |\n| --- | --- |"
    assert texts(markdown, BY_BLOCK) == [
        "# One\n\na b c",
        "- d e\n- f",
        "```\ng\n\nh i\n```",
        "| j | k |\n| --- | --- |",
    ]


@pytest.mark.parametrize("strategy", [BY_HEADING, BY_BLOCK])
def test_parts_below_the_minimum_go_with_their_neighbours(strategy: ChunkingStrategy) -> None:
    assert texts("# One\n\na\n\n# Two\n\nb c d", strategy, minimum=5) == [
        "# One\n\na\n\n# Two\n\nb c d"
    ]


def test_a_part_larger_than_a_chunk_is_cut_and_keeps_its_heading() -> None:
    markdown = "# One\n\n" + " ".join(map(str, range(40))) + "\n\n# Two\n\na b c d"
    chunking = Chunking(strategy=BY_HEADING, size=20, overlap=2, minimum=3)
    chunks = chunked(markdown, words(markdown), chunking, max_bytes=9999)
    assert len(chunks) > 3
    assert [each.section for each in chunks] == ["One"] * (len(chunks) - 1) + ["Two"]


def test_blocks_are_typed() -> None:
    markdown = "# One\nline\nline\n\nother\n\n- a\n\n- b\n\n~~~\n# no heading\n~~~\n| a | b |"
    found = [(each.type, markdown[each.start : each.end]) for each in blocks_of(markdown)]
    assert found == [
        ("heading", "# One"),
        ("prose", "line\nline"),
        ("prose", "other"),
        ("list", "- a\n\n- b"),
        ("code", "~~~\n# no heading\n~~~"),
        ("table", "| a | b |"),
    ]


def test_sizes_beyond_the_embedder_are_cut_to_it() -> None:
    assert Chunking(size=900, overlap=300, minimum=400).within(200) == Chunking(
        size=200, overlap=100, minimum=200
    )
