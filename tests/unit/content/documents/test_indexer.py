"""Making a page searchable: what is embedded, shown and forgotten."""

from dataclasses import replace

import pytest

from spinneret.content.documents.rules import document_id
from spinneret.content.extraction.models import Content, Extraction, Metadata, PageType
from spinneret.kernel import bounds
from tests import factories
from tests.factories import TENANT
from tests.fakes.crawling import long_page
from tests.fakes.search import FakeEmbedder
from tests.fakes.time import plenty
from tests.unit.content.documents.indexer_bench import URL, Bench

# ---------------------------------------------------------------- A new page


def test_a_page_can_be_searched_at_once(bench: Bench) -> None:
    indexed = bench.index(factories.content("Spiders weave silk."))
    assert not indexed.unchanged
    assert bench.shown() == ["Spiders weave silk."]
    assert bench.document == indexed.document == bench.documents.get(TENANT, indexed.document.id)


def test_a_document_holds_what_the_page_says(bench: Bench) -> None:
    metadata = Metadata(author="A. Weaver", keywords=("silk", "spiders"))
    content = factories.content("Spiders weave silk.", title="Silk", metadata=metadata)
    document = bench.index(content).document
    assert document.id == document_id(TENANT, URL)
    assert (document.title, document.language, document.metadata) == ("Silk", "en", metadata)
    assert (document.url, document.domain, document.job_id) == (URL, "site.example", "job_1")
    assert (document.sequence, document.chunk_count, document.token_count) == (1, 1, 3)
    assert document.embedding_model == "fake"
    assert document.created_at == document.crawled_at == document.changed_at == bench.clock()
    assert bench.contents.get(document.content_key) == "Spiders weave silk."


def test_a_document_says_how_its_content_was_found(bench: Bench) -> None:
    extraction = Extraction(engine="regions", agreement=0.5, page_type=PageType.FORUM)
    assert bench.index(factories.content(extraction=extraction)).document.extraction == extraction


def test_addresses_are_stored_but_neither_embedded_nor_counted(bench: Bench) -> None:
    link = "Spiders [weave](https://site.example/a/b/c?d=e) silk. ![Web](https://site.example/w)"
    document = bench.index(factories.content(link)).document
    assert bench.contents.get(document.content_key) == link
    assert bench.shown() == [link]
    assert bench.embedder.embedded == ["Spiders weave silk. "]
    plain = bench.index(factories.content("Spiders [weave silk. ![Web"), url_key="plain").document
    assert document.token_count == plain.token_count


def test_a_chunk_of_pictures_is_embedded_by_their_descriptions(bench: Bench) -> None:
    gallery = "\n\n".join(
        f"[![Web {number}](https://site.example/w)](https://site.example/{number})"
        for number in range(9)
    )
    assert bench.index(factories.content(gallery)).document.chunk_count == 1
    assert bench.embedder.embedded == ["\n\n".join(f"[![Web {number}" for number in range(9))]


def test_chunks_slice_the_stored_text(bench: Bench) -> None:
    text = long_page("silk 🕸")
    document = bench.index(factories.content(text)).document
    chunks = sorted(bench.chunks.held.values(), key=lambda chunk: chunk.index)
    assert [chunk.index for chunk in chunks] == list(range(document.chunk_count))
    stored = bench.contents.get(document.content_key)
    for chunk in chunks:
        assert stored[chunk.start : chunk.end] == chunk.text
        assert (chunk.tenant, chunk.document_id, chunk.version) == (
            TENANT,
            document.id,
            document.version,
        )
    assert document.token_count == sum(chunk.token_count for chunk in chunks)


def test_a_chunk_fits_into_the_embedder_with_its_special_tokens(bench: Bench) -> None:
    bench.index(factories.content(long_page("silk")))
    counts = [chunk.token_count for chunk in bench.chunks.held.values()]
    assert len(counts) > 2
    assert max(counts) <= bench.embedder.info(plenty).max_input_tokens - 2


# covers C-04
def test_a_chunk_has_512_tokens_where_the_embedder_takes_more(bench: Bench) -> None:
    bench.embedder = FakeEmbedder(max_input_tokens=8192)
    bench.index(factories.content(long_page("silk", 2000)))
    counts = [chunk.token_count for chunk in bench.chunks.held.values()]
    assert max(counts) <= bounds.CHUNK_TOKENS
    assert len(counts) > 3


@pytest.mark.parametrize(("stage", "takes", "size"), [(1, 2, 1), (32, 2, 2), (3, 32, 3)])
def test_the_embedder_gets_as_many_texts_at_once_as_stage_and_embedder_allow(
    bench: Bench, stage: int, takes: int, size: int
) -> None:
    bench.embedder = FakeEmbedder(max_input_tokens=202, max_batch=takes)
    bench.embed_batch = stage
    document = bench.index(factories.content(long_page("silk"))).document
    steps = [step for step, _ in bench.steps]
    assert steps.count("embedding") == -(-document.chunk_count // size)


def test_progress_never_falls_and_every_batch_renews_the_lease(bench: Bench) -> None:
    document = bench.index(factories.content(long_page("silk"))).document
    steps = [step for step, _ in bench.steps]
    progress = [percent for _, percent in bench.steps]
    assert progress == sorted(progress)
    assert progress[-1] < 100
    assert steps.count("embedding") == -(-document.chunk_count // 2)
    assert list(dict.fromkeys(steps)) == ["chunking", "embedding", "indexing"]


# ---------------------------------------------------------------- The page again


# covers C-03
def test_unchanged_content_is_not_embedded_again(bench: Bench) -> None:
    first = bench.index().document
    embedded, chunks = list(bench.embedder.embedded), dict(bench.chunks.held)
    bench.clock.advance(3600)
    again = bench.index(lease=bench.claim("job_2"))
    assert again.unchanged
    assert (bench.embedder.embedded, bench.chunks.held) == (embedded, chunks)
    assert again.document == replace(first, sequence=2, crawled_at=bench.clock(), job_id="job_2")
    assert bench.shown() == [chunk.text for chunk in chunks.values()]


def test_unchanged_content_takes_new_metadata(bench: Bench) -> None:
    bench.index()
    again = bench.index(factories.content(metadata=Metadata(author="A. Weaver")))
    assert again.unchanged
    assert bench.document.metadata.author == "A. Weaver"


@pytest.mark.parametrize(
    "changed",
    [factories.content("Spiders weave more silk."), factories.content(title="Other")],
    ids=["text", "title"],
)
def test_changed_content_replaces_the_old_chunks(bench: Bench, changed: Content) -> None:
    first = bench.index().document
    bench.clock.advance(3600)
    indexed = bench.index(changed)
    document = indexed.document
    assert not indexed.unchanged
    assert (document.sequence, document.created_at) == (2, first.created_at)
    assert document.changed_at == document.crawled_at == bench.clock()
    assert document.version != first.version
    assert {chunk.version for chunk in bench.chunks.held.values()} == {document.version}
    assert bench.shown() == [changed.markdown]


def test_content_that_returns_gets_a_version_of_its_own(bench: Bench) -> None:
    one, other = factories.content("Silk of spiders."), factories.content("Silk of worms.")
    versions = [bench.index(content).document.version for content in (one, other, one)]
    assert len(set(versions)) == 3
    assert bench.shown() == ["Silk of spiders."]


def test_another_model_embeds_unchanged_content_again(bench: Bench) -> None:
    bench.index()
    bench.embedder = FakeEmbedder("another")
    indexed = bench.index()
    assert not indexed.unchanged
    assert bench.embedder.embedded
    assert bench.document.embedding_model == "another"


def test_two_tenants_have_a_document_each(bench: Bench) -> None:
    one = bench.index().document
    other = bench.index(tenant="other").document
    assert one.id != other.id
    assert one.content_key != other.content_key
    assert bench.shown(tenant="other") == bench.shown()
    assert bench.shown(tenant="third") == []
