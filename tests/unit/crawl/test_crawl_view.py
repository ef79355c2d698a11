"""A crawl's view of its page, and the collection and tags of its document."""

import json
from dataclasses import replace

import pytest

from spinneret.content.extraction.pages import extract
from spinneret.crawl import limits
from spinneret.crawl.models import BatchRequest, CrawlRequest
from spinneret.jobs.models import JobRef, JobStatus
from spinneret.kernel.errors import NotFound, UrlBlocked
from tests.fakes.crawling import CrawlWorld, long_page
from tests.fakes.fetching import fetched_page

URL = "https://site.example/page?b=2&a=1"
PAGE = """<html lang="en"><head><title>Silk</title><meta name="description" content="On silk">
<meta name="keywords" content="silk, webs"></head><body><p>Spiders <b>weave</b> silk, as
<a href="/more" rel="nofollow noopener">more of it</a> and
<a href="/more">again</a>, <a href="https://other.example/"><img src="a.png" alt="Other"></a>
say.</p></body></html>"""


def test_a_completed_crawl_shows_its_page_in_its_parts(crawl: CrawlWorld) -> None:
    crawl.extract = extract
    crawl.pages[URL] = fetched_page(URL, PAGE)
    collection = crawl.collections.create("acme", "silk", None)
    job = crawl.settle(crawl.submit(URL, collection_id=collection.id))
    [document] = crawl.documents.all("acme")
    view = crawl.crawls().get("acme", job.id)
    assert (view.url, view.normalized_url) == (URL, "https://site.example/page?a=1&b=2")
    assert (view.domain, view.status, view.status_code) == ("site.example", "completed", 200)
    assert (view.content_type, view.title) == ("text/html", "Silk")
    assert (view.document_id, view.collection_id) == (document.id, collection.id)
    assert view.markdown == crawl.contents.get(document.content_key)
    assert view.text == "Spiders weave silk, as more of it and again, say."
    assert view.metadata is not None
    assert (view.metadata.description, view.metadata.keywords) == ("On silk", ["silk", "webs"])
    assert view.links is not None
    assert [each.model_dump() for each in view.links] == [
        {
            "url": "https://site.example/more",
            "text": "more of it",
            "rel": ["nofollow", "noopener"],
            "nofollow": True,
        },
        {"url": "https://other.example/", "text": "Other", "rel": [], "nofollow": False},
    ]
    assert (view.crawled_at, view.error, view.error_type) == (
        "2026-01-02T12:00:00.000000Z",
        None,
        None,
    )
    assert (view.markdown_url, view.parts_url, view.blocks) == (None, None, None)
    assert view.extraction is not None
    assert view.extraction.model_dump() == {
        "engine": "regions",
        "agreement": 0.0,
        "page_type": document.extraction and document.extraction.page_type,
    }


def test_a_crawl_that_is_not_finished_shows_what_is_known(crawl: CrawlWorld) -> None:
    view = crawl.crawls().get("acme", crawl.submit(URL).job_id)
    assert (view.status, view.normalized_url) == ("pending", "https://site.example/page?a=1&b=2")
    assert (view.markdown, view.text, view.links, view.metadata) == (None, None, None, None)
    assert view.extraction is None


def test_crawls_and_batches_show_the_webhook_that_was_asked_for(crawl: CrawlWorld) -> None:
    service = crawl.crawls()
    hook = "https://me.example/hook?api_key=Zx9-s3cr3t-t0ken-0fAcme"
    job = crawl.submit(URL, webhook_url=hook)
    batch = service.submit_batch("acme", BatchRequest(urls=(URL,), webhook_url=hook), None)
    shown = [
        service.get("acme", each).webhook_url
        for each in (job.job_id, batch.reply.body["batch_id"], crawl.submit(f"{URL}&c=3").job_id)
    ]
    assert shown[0] == shown[1]
    assert str(shown[0]).startswith("https://me.example/hook")
    assert "s3cr3t" not in str(shown[0])
    assert shown[2] is None


def test_a_failed_crawl_shows_why(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, status_code=404)
    view = crawl.crawls().get("acme", crawl.settle(crawl.submit(URL)).id)
    assert view.error is not None
    assert (view.error.code, view.error_type, view.status_code) == ("HTTP_ERROR", "permanent", 404)


def test_a_redriven_crawl_shows_its_last_error_while_it_waits(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, status_code=503)
    ref = crawl.submit(URL)
    while crawl.run(ref).redrives == 0:
        crawl.clock.advance(10)
    view = crawl.crawls().get("acme", ref.job_id)
    assert (view.status, view.redrives, view.attempts) == ("pending", 1, 0)
    assert view.error is not None
    assert (view.error.code, view.error_type, view.status_code) == ("HTTP_ERROR", "transient", 503)


def test_what_is_too_large_to_be_shown_has_a_url(
    crawl: CrawlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl.pages[URL] = fetched_page(URL, long_page("silk"))
    job = crawl.settle(crawl.submit(URL))
    monkeypatch.setattr(limits, "CRAWL_SHOWN_BYTES", 10)
    view = crawl.crawls().get("acme", job.id)
    assert (view.markdown, view.text, view.links, view.metadata) == (None, None, None, None)
    assert job.result is not None
    assert job.result["content_key"] in str(view.markdown_url)
    assert job.result["parts_key"] in str(view.parts_url)


def test_what_is_gone_from_the_store_is_not_shown(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    job = crawl.settle(crawl.submit(URL))
    crawl.contents._texts.clear()
    view = crawl.crawls().get("acme", job.id)
    assert (view.status, view.markdown, view.links) == ("completed", None, None)


def test_the_page_of_a_deleted_document_is_not_shown(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    job = crawl.settle(crawl.submit(URL))
    [document] = crawl.documents.all("acme")
    deleted = replace(document, sequence=2, deleted_at=crawl.clock())
    crawl.documents.commit(deleted, document)
    for gone in (False, True):
        if gone:
            crawl.documents.remove(deleted, crawl.clock())
        view = crawl.crawls().get("acme", job.id)
        assert (view.status, view.document_id) == ("completed", document.id)
        assert (view.markdown, view.text, view.links, view.metadata) == (None, None, None, None)
        assert (view.markdown_url, view.parts_url) == (None, None)
    restored = replace(document, sequence=3)
    crawl.documents.commit(restored, None)
    assert crawl.crawls().get("acme", job.id).text == "Silk."


def test_a_crawl_whose_document_was_deleted_answers_no_other_one(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    first = crawl.submit(URL)
    crawl.settle(first)
    assert crawl.submit(URL) == first
    [document] = crawl.documents.all("acme")
    crawl.documents.commit(replace(document, sequence=2, deleted_at=crawl.clock()), document)
    batch = BatchRequest(urls=(URL,))
    reply = crawl.crawls().submit_batch("acme", batch, None).reply.body
    assert reply["jobs"][0]["cached"] is False
    again = crawl.submit(URL)
    assert (again == first, again.job_id) == (False, reply["jobs"][0]["job_id"])
    assert crawl.settle(again).status is JobStatus.COMPLETED
    [document] = crawl.documents.all("acme")
    assert (document.deleted_at, crawl.submit(URL)) == (None, again)


def test_parts_are_kept_as_json_whatever_the_page_holds(crawl: CrawlWorld) -> None:
    crawl.extract = extract
    crawl.pages[URL] = fetched_page(
        URL, "<p>text <a href='/a'>\ud83d \u0000 x</a>".encode("utf-8", "replace")
    )
    job = crawl.settle(crawl.submit(URL))
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    assert json.loads(crawl.parts.read(job.result["parts_key"]) or "")["links"]


# ------------------------------------------------------------ Collections and tags


def test_null_is_no_tag(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    asked = CrawlRequest.model_validate({"url": URL, "tags": None})
    submitted = crawl.crawls().submit("acme", asked, None)
    crawl.settle(JobRef(tenant="acme", job_id=submitted.reply.body["job_id"]))
    [document] = crawl.documents.all("acme")
    assert document.tag_ids == ()


# covers C-01
def test_documents_get_the_collection_and_the_tags_of_their_crawl(crawl: CrawlWorld) -> None:
    crawl.pages[URL] = fetched_page(URL, "Silk.")
    silk = crawl.collections.create("acme", "silk", None)
    known = crawl.tags.create("acme", "spiders")
    crawl.settle(crawl.submit(URL, collection_id=silk.id, tags=("Webs", " SPIDERS", "webs")))
    [document] = crawl.documents.all("acme")
    webs = crawl.tag_ids("acme", ["webs"])
    assert (document.collection_id, set(document.tag_ids)) == (silk.id, {*webs, known.id})
    for page in ("Silk.", "Other silk."):  # unchanged, then changed
        crawl.pages[URL] = fetched_page(URL, page)
        crawl.settle(crawl.submit(URL, force=True, tags=(page[:5],)))
        [document] = crawl.documents.all("acme")
        assert document.collection_id == silk.id
    added = crawl.tag_ids("acme", ["silk.", "other"])
    assert set(document.tag_ids) == {*webs, known.id, *added}


def test_a_crawl_into_another_collection_is_another_crawl(crawl: CrawlWorld) -> None:
    silk = crawl.collections.create("acme", "silk", None)
    assert crawl.submit(URL, collection_id=silk.id) != crawl.submit(URL)


def test_a_collection_that_the_tenant_does_not_have_is_unknown(crawl: CrawlWorld) -> None:
    silk = crawl.collections.create("acme", "silk", None)
    with pytest.raises(NotFound):
        crawl.submit(URL, "globex", collection_id=silk.id)


def test_a_refused_request_makes_no_tags(crawl: CrawlWorld) -> None:
    with pytest.raises(UrlBlocked):
        crawl.submit("http://localhost/", tags=("new",))
    assert crawl.tags.page("acme", None, 9).items == ()


def test_all_of_several_urls_share_config_collection_and_tags(crawl: CrawlWorld) -> None:
    urls = ("https://site.example/1", "http://localhost/", "https://site.example/2")
    request = CrawlRequest(urls=urls, tags=("new",))
    body = crawl.crawls().submit("acme", request, None).reply.body
    refs = [JobRef(tenant="acme", job_id=each["job_id"]) for each in body["jobs"] if each["job_id"]]
    [tag] = crawl.tags.page("acme", None, 9).items
    assert [crawl.job(ref).payload["tag_ids"] for ref in refs] == [[tag.id], [tag.id]]
