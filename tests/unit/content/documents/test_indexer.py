"""Indexing of a page: embedded chunks, visible versions and removals."""

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
from tests.unit.content.documents.indexer_world import URL, IndexerWorld

# ---------------------------------------------------------------- A new page


def test_a_page_can_be_searched_at_once(world: IndexerWorld) -> None:
    indexed = world.index(factories.content("Spiders weave silk."))
    assert not indexed.unchanged
    assert world.shown() == ["Spiders weave silk."]
    assert world.document == indexed.document == world.documents.get(TENANT, indexed.document.id)


def test_a_document_holds_what_the_page_says(world: IndexerWorld) -> None:
    metadata = Metadata(author="A. Weaver", keywords=("silk", "spiders"))
    content = factories.content("Spiders weave silk.", title="Silk", metadata=metadata)
    document = world.index(content).document
    assert document.id == document_id(TENANT, URL)
    assert (document.title, document.language, document.metadata) == ("Silk", "en", metadata)
    assert (document.url, document.domain, document.job_id) == (URL, "site.example", "job_1")
    assert (document.sequence, document.chunk_count, document.token_count) == (1, 1, 3)
    assert document.embedding_model == "fake"
    assert document.created_at == document.crawled_at == document.changed_at == world.clock()
    assert world.contents.get(document.content_key) == "Spiders weave silk."


def test_a_document_says_how_its_content_was_found(world: IndexerWorld) -> None:
    extraction = Extraction(engine="regions", agreement=0.5, page_type=PageType.FORUM)
    assert world.index(factories.content(extraction=extraction)).document.extraction == extraction


def test_addresses_are_stored_but_neither_embedded_nor_counted(world: IndexerWorld) -> None:
    link = "Spiders [weave](https://site.example/a/b/c?d=e) silk. ![Web](https://site.example/w)"
    document = world.index(factories.content(link)).document
    assert world.contents.get(document.content_key) == link
    assert world.shown() == [link]
    assert world.embedder.embedded == ["Spiders weave silk. "]
    plain = world.index(factories.content("Spiders [weave silk. ![Web"), url_key="plain").document
    assert document.token_count == plain.token_count


def test_a_chunk_of_pictures_is_embedded_by_their_descriptions(world: IndexerWorld) -> None:
    gallery = "\n\n".join(
        f"[![Web {number}](https://site.example/w)](https://site.example/{number})"
        for number in range(9)
    )
    assert world.index(factories.content(gallery)).document.chunk_count == 1
    assert world.embedder.embedded == ["\n\n".join(f"[![Web {number}" for number in range(9))]


def test_chunks_slice_the_stored_text(world: IndexerWorld) -> None:
    text = long_page("silk 🕸")
    document = world.index(factories.content(text)).document
    chunks = sorted(world.chunks.held.values(), key=lambda chunk: chunk.index)
    assert [chunk.index for chunk in chunks] == list(range(document.chunk_count))
    stored = world.contents.get(document.content_key)
    for chunk in chunks:
        assert stored[chunk.start : chunk.end] == chunk.text
        assert (chunk.tenant, chunk.document_id, chunk.version) == (
            TENANT,
            document.id,
            document.version,
        )
    assert document.token_count == sum(chunk.token_count for chunk in chunks)


def test_a_chunk_fits_into_the_embedder_with_its_special_tokens(world: IndexerWorld) -> None:
    world.index(factories.content(long_page("silk")))
    counts = [chunk.token_count for chunk in world.chunks.held.values()]
    assert len(counts) > 2
    assert max(counts) <= world.embedder.info(plenty).max_input_tokens - 2


# covers C-04
def test_a_chunk_has_512_tokens_where_the_embedder_takes_more(world: IndexerWorld) -> None:
    world.embedder = FakeEmbedder(max_input_tokens=8192)
    world.index(factories.content(long_page("silk", 2000)))
    counts = [chunk.token_count for chunk in world.chunks.held.values()]
    assert max(counts) <= bounds.CHUNK_TOKENS
    assert len(counts) > 3


@pytest.mark.parametrize(("stage", "takes", "size"), [(1, 2, 1), (32, 2, 2), (3, 32, 3)])
def test_the_embedder_gets_as_many_texts_at_once_as_stage_and_embedder_allow(
    world: IndexerWorld, stage: int, takes: int, size: int
) -> None:
    world.embedder = FakeEmbedder(max_input_tokens=202, max_batch=takes)
    world.embed_batch = stage
    document = world.index(factories.content(long_page("silk"))).document
    steps = [step for step, _ in world.steps]
    assert steps.count("embedding") == -(-document.chunk_count // size)


def test_progress_never_falls_and_every_batch_renews_the_lease(world: IndexerWorld) -> None:
    document = world.index(factories.content(long_page("silk"))).document
    steps = [step for step, _ in world.steps]
    progress = [percent for _, percent in world.steps]
    assert progress == sorted(progress)
    assert progress[-1] < 100
    assert steps.count("embedding") == -(-document.chunk_count // 2)
    assert list(dict.fromkeys(steps)) == ["chunking", "embedding", "indexing"]


# ---------------------------------------------------------------- The page again


# covers C-03
def test_unchanged_content_is_not_embedded_again(world: IndexerWorld) -> None:
    first = world.index().document
    embedded, chunks = list(world.embedder.embedded), dict(world.chunks.held)
    world.clock.advance(3600)
    again = world.index(lease=world.claim("job_2"))
    assert again.unchanged
    assert (world.embedder.embedded, world.chunks.held) == (embedded, chunks)
    assert again.document == replace(first, sequence=2, crawled_at=world.clock(), job_id="job_2")
    assert world.shown() == [chunk.text for chunk in chunks.values()]


def test_unchanged_content_takes_new_metadata(world: IndexerWorld) -> None:
    world.index()
    again = world.index(factories.content(metadata=Metadata(author="A. Weaver")))
    assert again.unchanged
    assert world.document.metadata.author == "A. Weaver"


@pytest.mark.parametrize(
    "changed",
    [factories.content("Spiders weave more silk."), factories.content(title="Other")],
    ids=["text", "title"],
)
def test_changed_content_replaces_the_old_chunks(world: IndexerWorld, changed: Content) -> None:
    first = world.index().document
    world.clock.advance(3600)
    indexed = world.index(changed)
    document = indexed.document
    assert not indexed.unchanged
    assert (document.sequence, document.created_at) == (2, first.created_at)
    assert document.changed_at == document.crawled_at == world.clock()
    assert document.version != first.version
    assert {chunk.version for chunk in world.chunks.held.values()} == {document.version}
    assert world.shown() == [changed.markdown]


def test_content_that_returns_gets_a_version_of_its_own(world: IndexerWorld) -> None:
    one, other = factories.content("Silk of spiders."), factories.content("Silk of worms.")
    versions = [world.index(content).document.version for content in (one, other, one)]
    assert len(set(versions)) == 3
    assert world.shown() == ["Silk of spiders."]


def test_another_model_embeds_unchanged_content_again(world: IndexerWorld) -> None:
    world.index()
    world.embedder = FakeEmbedder("another")
    indexed = world.index()
    assert not indexed.unchanged
    assert world.embedder.embedded
    assert world.document.embedding_model == "another"


def test_two_tenants_have_a_document_each(world: IndexerWorld) -> None:
    one = world.index().document
    other = world.index(tenant="other").document
    assert one.id != other.id
    assert one.content_key != other.content_key
    assert world.shown(tenant="other") == world.shown()
    assert world.shown(tenant="third") == []
