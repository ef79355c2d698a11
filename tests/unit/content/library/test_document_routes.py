"""Documents through their API routes, from upload to deletion."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from spinneret.content import limits
from spinneret.content.documents.models import DocumentFilter, Origin
from spinneret.content.library.models import MediaType
from spinneret.content.library.reading import content_of
from spinneret.content.library.rules import matches
from spinneret.content.search.models import Filters
from spinneret.jobs.models import JobStatus, Lane
from spinneret.kernel import bounds
from tests.factories import TENANT
from tests.unit.content.library.library_world import LibraryWorld

DEEP = json.loads('{"a":' * 300 + "1" + "}" * 300)


def ids(answer: Any) -> list[str]:
    return [each["document_id"] for each in answer.body["items"]]


# ---------------------------------------------------------------- Uploads


# covers S-01
def test_an_upload_is_stored_by_a_job_and_found(library: LibraryWorld) -> None:
    collection = library.collections.create(TENANT, "shelf", None)
    answer = library.send(
        "POST",
        "",
        {
            "url": "https://Site.example/page/?b=1",
            "title": "Silk",
            "content": "Spiders weave silk.",
            "collection_id": collection.id,
            "tags": ["Webs", "webs", "silk"],
            "metadata": {"shelf": 7},
        },
    )
    assert (answer.status, answer.body["status"]) == (202, "pending")
    [sent] = library.queue.sent
    assert sent.lane == Lane("documents-normal")
    job = library.work(answer.body["job_id"])
    assert job.status is JobStatus.COMPLETED
    assert job.result is not None
    assert job.result["document_id"] == answer.body["document_id"]
    shown = library.send("GET", f"/{answer.body['document_id']}").body
    assert (shown["url"], shown["domain"]) == ("https://site.example/page?b=1", "site.example")
    assert (shown["title"], shown["source"], shown["metadata"]) == ("Silk", "upload", {"shelf": 7})
    assert [tag["name"] for tag in shown["tags"]] == ["webs", "silk"]
    assert shown["collection_id"] == collection.id
    assert shown["content"] == "Spiders weave silk."
    [chunk] = shown["chunks"]
    assert (chunk["content"], chunk["section_header"]) == ("Spiders weave silk.", "Silk")
    assert shown["next_chunk_cursor"] is None
    assert library.found() == [answer.body["document_id"]]
    filters = Filters(collection_ids=(collection.id,), tag_ids=(shown["tags"][1]["tag_id"],))
    assert library.found(filters=filters) == [answer.body["document_id"]]


def test_a_document_shows_how_sure_its_content_is(library: LibraryWorld) -> None:
    content = f"<html><body><main><p>{'Spiders weave silk. ' * 9}</p></main></body></html>"
    given = {"content": content, "content_type": "text/html"}
    answer = library.send("POST", body=given)
    library.work(answer.body["job_id"])
    stored = library.documents.all(TENANT)[0].extraction
    assert stored is not None
    for shown in (
        library.send("GET", f"/{answer.body['document_id']}").body,
        library.send("GET").body["items"][0],
    ):
        assert shown["extraction"] == {
            "engine": stored.engine,
            "agreement": stored.agreement,
            "page_type": stored.page_type,
        }


def test_an_upload_without_a_url_is_named_by_its_content(library: LibraryWorld) -> None:
    one, same = library.stored("silk"), library.stored("silk")
    other = library.stored("wool")
    assert one.id == same.id != other.id
    assert one.url.startswith("upload://")
    assert one.domain == "upload"


@pytest.mark.parametrize(
    ("media_type", "content", "title", "text"),
    [
        ("text/plain", "# silk *is* strong", None, "silk"),
        ("text/markdown", "Intro\n\n# Silk #\n\nIt *is* strong.", "Silk", "*is* strong"),
        ("text/html", "<title>Silk</title><p>It <b>is</b> strong.</p>", "Silk", "strong"),
    ],
)
def test_text_markdown_and_html_are_read_as_what_they_are(
    library: LibraryWorld, media_type: str, content: str, title: str | None, text: str
) -> None:
    document = library.stored(content, content_type=media_type)
    assert document.title == title
    assert text in library.contents.get(document.content_key)
    encoded = base64.b64encode(content.encode()).decode()
    answer = library.send(
        "POST",
        "",
        {"url": "upload://same", "content_base64": encoded, "content_type": media_type},
    )
    job = library.work(answer.body["job_id"])
    assert job.status is JobStatus.COMPLETED


def test_what_can_not_be_read_fails_its_job(library: LibraryWorld) -> None:
    for body in (b"\xff\xfe not utf-8", b" .. "):
        encoded = base64.b64encode(body).decode()
        answer = library.send("POST", "", {"content_base64": encoded})
        job = library.work(answer.body["job_id"])
        assert job.status is JobStatus.FAILED
        assert job.last_error is not None
        assert job.last_error.code == "CONTENT_REFUSED"


def test_a_malformed_document_of_a_batch_is_refused_alone(library: LibraryWorld) -> None:
    malformed: list[tuple[Any, str]] = [
        ({"content": ""}, "content"),
        ({"content": "x", "title": "y" * 501}, "title"),
        ({"content": "x", "content_type": "image/png"}, "content_type"),
        ({"content": "x", "tags": ["a", ""]}, "tags.1"),
        ({"content": 7, "colour": "red"}, "content colour"),
        ({}, "body"),
        ("silk", "body"),
        (None, "body"),
    ]
    documents = [{"content": "silk"}, *(each for each, _ in malformed), {"content": "wool"}]
    answer = library.send("POST", "/batch", {"documents": documents})
    assert (answer.status, answer.body["total_submitted"], answer.body["failed_count"]) == (
        202,
        2,
        8,
    )
    first, *refused, last = answer.body["jobs"]
    assert (first["error"], last["error"]) == (None, None)
    for outcome, (document, fields) in zip(refused, malformed, strict=True):
        error = outcome["error"]
        assert (outcome["job_id"], error["code"]) == (None, "VALIDATION_ERROR")
        named = [each["path"] for each in error["details"]["fields"]]
        assert sorted(named) == sorted(fields.split()), document
    nothing = library.send("POST", "/batch", {"documents": [{"content": ""}]})
    assert (nothing.status, nothing.body["failed_count"]) == (202, 1)


# covers S-01
def test_a_batch_has_an_outcome_for_each_document(library: LibraryWorld) -> None:
    documents: list[dict[str, Any]] = [{"content": f"silk {n}"} for n in range(47)]
    documents.insert(1, {"content": "x", "collection_id": "col_unknown"})
    documents.insert(3, {"content": "x", "url": "ftp://site.example/"})
    documents.insert(5, {"content_base64": "!"})
    answer = library.send("POST", "/batch", {"documents": documents})
    assert (answer.status, answer.body["total_submitted"], answer.body["failed_count"]) == (
        202,
        47,
        3,
    )
    errors = {
        n: each["error"]["code"] for n, each in enumerate(answer.body["jobs"]) if each["error"]
    }
    assert errors == {1: "NOT_FOUND", 3: "URL_INVALID", 5: "VALIDATION_ERROR"}
    for each in answer.body["jobs"]:
        if each["job_id"]:
            library.work(each["job_id"])
    assert len(library.documents.all(TENANT)) == 47
    for count in (0, 51):
        refused = library.send("POST", "/batch", {"documents": [{"content": "x"}] * count})
        assert refused.status == 422


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "content_base64": "eA=="}, 422, "VALIDATION_ERROR"),
        ({"content_base64": "not base64"}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "content_type": "image/png"}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "content_type": "application/pdf"}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "colour": "red"}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "tags": [f"t{n}" for n in range(21)]}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "metadata": {"a": "y" * 17_000}}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "metadata": {"a": "\ud800"}}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "metadata": DEEP}, 422, "VALIDATION_ERROR"),
        ({"content": "x", "collection_id": "col_9"}, 404, "NOT_FOUND"),
        ({"content": "x", "url": "mailto:a@b.example"}, 400, "URL_INVALID"),
        ({"content": "x", "url": "upload://a b"}, 400, "URL_INVALID"),
        ({"content": "x" * (limits.DOCUMENT_MAX_BYTES + 1)}, 413, "BODY_TOO_LARGE"),
    ],
)
def test_what_is_no_document_is_refused(
    library: LibraryWorld, body: dict[str, Any], status: int, code: str
) -> None:
    refused = library.send("POST", "", body)
    assert (refused.status, refused.body["code"]) == (status, code)


def test_a_repeated_request_has_its_first_answer(library: LibraryWorld) -> None:
    headers = {"Idempotency-Key": "one"}
    first = library.send("POST", "", {"content": "silk"}, headers=headers)
    again = library.send("POST", "", {"content": "silk"}, headers=headers)
    assert again.body == first.body
    assert len(library.queue.sent) == 1


# ---------------------------------------------------------------- Lists


def test_lists_are_filtered_and_go_on_by_their_cursor(library: LibraryWorld) -> None:
    made = [
        library.stored(
            f"silk {n}",
            url=f"https://{n % 2}.example/{n}",
            tags=["even"] if n % 2 == 0 else ["odd"],
        )
        for n in range(5)
    ]
    first = library.send("GET", limit="2")
    second = library.send("GET", limit="2", cursor=first.body["next_cursor"])
    third = library.send("GET", limit="2", cursor=second.body["next_cursor"])
    newest = [each.id for each in reversed(made)]
    assert ids(first) + ids(second) + ids(third) == newest
    assert [page.body["has_more"] for page in (first, second, third)] == [True, True, False]
    [tag] = library.send("GET", f"/{made[0].id}").body["tags"]
    filters: list[tuple[dict[str, str], list[str]]] = [
        ({"domain": "1.EXAMPLE"}, [made[3].id, made[1].id]),
        ({"tag_id": tag["tag_id"]}, [made[4].id, made[2].id, made[0].id]),
        ({"tag_id": tag["tag_id"], "domain": "1.example"}, []),
        ({"url": "https://0.EXAMPLE/2#x"}, [made[2].id]),
        ({"url": "https://0.example/2", "source": "crawl"}, []),
        ({"source": "api"}, newest),
        ({"source": "crawl"}, []),
        ({"language": "en"}, []),
        ({"language": "UND"}, newest),
        ({"date_from": "2030-01-01T00:00:00Z"}, []),
        ({"date_to": "2030-01-01T00:00:00Z"}, newest),
        ({"deleted": "true"}, []),
        ({"collection_id": "col_9"}, []),
    ]
    for asked, expected in filters:
        assert ids(library.send("GET", **asked)) == expected, asked


def test_a_list_whose_index_lags_shows_no_deleted_document(library: LibraryWorld) -> None:
    deleted = replace(library.stored(), deleted_at=library.clock())
    assert not matches(deleted, DocumentFilter(tenant=TENANT))
    assert matches(deleted, DocumentFilter(tenant=TENANT, deleted=True))


@pytest.mark.parametrize(
    "query",
    [
        {"cursor": "x"},
        {"limit": "0"},
        {"limit": "101"},
        {"source": "x"},
        {"date_from": "x"},
        {"date_to": "9999-12-31T23:59:59-01:00"},
    ],
)
def test_what_is_no_filter_is_refused(library: LibraryWorld, query: dict[str, str]) -> None:
    assert library.send("GET", **query).status == 422


def test_chunks_come_in_order_and_by_pages(library: LibraryWorld) -> None:
    text = "\n\n".join(f"Paragraph {n} says silk again and again." for n in range(60))
    document = library.stored(text)
    assert document.chunk_count > 3
    path, cursor, found = f"/{document.id}/chunks", None, []
    while True:
        query = {"cursor": cursor} if cursor else {}
        page = library.send("GET", path, limit="2", **query).body
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [each["chunk_index"] for each in found] == list(range(document.chunk_count))
    whole = library.contents.get(document.content_key)
    for each in found:
        assert whole[each["start_char"] : each["end_char"]] == each["content"]
    assert library.send("GET", path, cursor="x").status == 422


def test_the_whole_text_has_an_address(library: LibraryWorld) -> None:
    document = library.stored()
    answer = library.send("GET", f"/{document.id}/markdown").body
    assert document.content_key in answer["url"]
    assert answer["expires_in"] == bounds.DOWNLOAD_SECONDS


def test_a_text_too_large_to_be_shown_and_one_that_is_gone_are_null(
    library: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, gone = library.stored("größe " * 20), library.stored("silk")
    library.contents.forget(gone.content_key)
    monkeypatch.setattr(limits, "DOCUMENT_SHOWN_BYTES", 120)
    for each in (large, gone):
        shown = library.send("GET", f"/{each.id}").body
        assert (shown["content"], len(shown["chunks"])) == (None, 1)
    library.send("DELETE", f"/{large.id}")
    monkeypatch.setattr(limits, "DOCUMENT_SHOWN_BYTES", 1000)
    shown = library.send("GET", f"/{large.id}", include_deleted="true").body
    assert (shown["content"], shown["chunks"]) == (None, [])


# ---------------------------------------------------------------- Changes


def test_metadata_is_merged_and_bounded(library: LibraryWorld) -> None:
    document = library.stored(metadata={"a": 1, "b": 2})
    path = f"/{document.id}"
    changed = library.send("PATCH", path, {"metadata": {"b": None, "c": [True]}})
    assert changed.body["metadata"] == {"a": 1, "c": [True]}
    assert changed.body["updated_at"] >= changed.body["changed_at"]
    refused = library.send("PATCH", path, {"metadata": {"d": "y" * 17_000}})
    assert refused.status == 422
    assert library.send("GET", path).body["metadata"] == {"a": 1, "c": [True]}


def test_metadata_of_many_uploads_stays_bounded(library: LibraryWorld) -> None:
    page = {"url": "https://site.example/", "content": "Spiders weave silk."}
    document = library.stored(**page, metadata={"a": "x" * 9_000, "b": 1})
    answer = library.send("POST", "", {**page, "metadata": {"c": "x" * 9_000}})
    job = library.work(answer.body["job_id"])
    assert job.last_error is not None
    assert job.last_error.code == "VALIDATION_ERROR"
    library.stored(**page, metadata={"a": None, "c": "x" * 9_000})
    assert sorted(library.send("GET", f"/{document.id}").body["metadata"]) == ["b", "c"]


def test_a_document_moves_between_collections_and_is_found_there_at_once(
    library: LibraryWorld,
) -> None:
    document = library.stored()
    collection = library.collections.create(TENANT, "shelf", None)
    inside = Filters(collection_ids=(collection.id,))
    assert library.found(filters=inside) == []
    path = f"/{document.id}"
    library.send("PATCH", path, {"collection_id": collection.id})
    assert library.found(filters=inside) == [document.id]
    assert library.send("PATCH", path, {"metadata": {}}).body["collection_id"] == collection.id
    library.send("PATCH", path, {"collection_id": None})
    assert library.found(filters=inside) == []
    assert library.send("PATCH", path, {"collection_id": "col_9"}).status == 404


def test_tags_are_added_by_name_and_removed_by_id(library: LibraryWorld) -> None:
    document = library.stored(tags=["silk"])
    path = f"/{document.id}/tags"
    added = library.send("POST", path, {"tags": ["Webs", "silk", "webs"]})
    assert [tag["name"] for tag in added.body["tags"]] == ["silk", "webs"]
    webs = added.body["tags"][1]["tag_id"]
    assert library.found(filters=Filters(tag_ids=(webs,))) == [document.id]
    assert library.send("DELETE", f"{path}/{webs}").status == 204
    assert library.found(filters=Filters(tag_ids=(webs,))) == []
    assert library.send("DELETE", f"{path}/{webs}").status == 404
    library.send("POST", path, {"tags": [f"t{n}" for n in range(19)]})
    assert library.send("POST", path, {"tags": ["one too many"]}).status == 422
    library.tags.remove(TENANT, added.body["tags"][0]["tag_id"])
    assert library.send("POST", path, {"tags": ["in its place"]}).status == 200


def test_tags_are_replaced_by_name(library: LibraryWorld) -> None:
    document = library.stored(tags=["silk", "webs"], metadata={"a": 1})
    path = f"/{document.id}"
    changed = library.send("PATCH", path, {"tags": ["Webs", "new", "webs"]}).body
    assert ([tag["name"] for tag in changed["tags"]], changed["metadata"]) == (
        ["webs", "new"],
        {"a": 1},
    )
    new = changed["tags"][1]["tag_id"]
    assert library.found(filters=Filters(tag_ids=(new,))) == [document.id]
    assert library.found(filters=Filters(tag_ids=(document.tag_ids[0],))) == []
    for left, expected in (({"tags": None}, ["webs", "new"]), ({"tags": []}, [])):
        shown = library.send("PATCH", path, left).body
        assert [tag["name"] for tag in shown["tags"]] == expected
    for refused in ([f"t{n}" for n in range(21)], [""], "silk"):
        assert library.send("PATCH", path, {"tags": refused}).status == 422
    assert library.send("PATCH", "/doc_unknown", {"tags": ["never made"]}).status == 404
    assert library.tags.page(TENANT, None, 100).items[-1].name != "never made"


def test_null_is_what_is_not_given(library: LibraryWorld) -> None:
    names = ("url", "title", "content_base64", "collection_id", "tags", "metadata")
    answer = library.send("POST", "", {"content": "silk", **dict.fromkeys(names)})
    assert answer.status == 202
    assert library.work(answer.body["job_id"]).status is JobStatus.COMPLETED


def test_a_tag_that_is_gone_is_not_shown(library: LibraryWorld) -> None:
    document = library.stored(tags=["silk"])
    library.tags.remove(TENANT, document.tag_ids[0])
    assert library.send("GET", f"/{document.id}").body["tags"] == []


# covers S-01
def test_deletion_is_effective_at_once_and_restoring_too(library: LibraryWorld) -> None:
    document = library.stored()
    path = f"/{document.id}"
    assert library.found() == [document.id]
    assert library.send("DELETE", path).status == 204
    assert library.found() == []
    for method, rest, body in (
        ("GET", "", None),
        ("GET", "/chunks", None),
        ("GET", "/markdown", None),
        ("DELETE", "", None),
        ("PATCH", "", {"metadata": {}}),
        ("POST", "/reindex", None),
        ("POST", "/tags", {"tags": ["x"]}),
    ):
        assert library.send(method, path + rest, body).status == 404, (method, rest)
    assert ids(library.send("GET")) == []
    assert ids(library.send("GET", deleted="true")) == [document.id]
    shown = library.send("GET", path, include_deleted="true").body
    assert shown["deleted_at"] is not None
    restored = library.send("POST", f"{path}/restore")
    assert (restored.status, restored.body["deleted_at"]) == (200, None)
    assert library.found() == [document.id]
    assert library.send("POST", f"{path}/restore").status == 409


def test_a_document_is_deleted_while_the_index_is_away(library: LibraryWorld) -> None:
    document = library.stored()
    library.index.available = False
    assert library.send("DELETE", f"/{document.id}").status == 204
    assert library.send("POST", f"/{document.id}/restore").status == 503
    library.index.available = True
    assert library.found() == []


def test_uploading_a_deleted_document_again_restores_it(library: LibraryWorld) -> None:
    document = library.stored()
    library.send("DELETE", f"/{document.id}")
    library.stored()
    assert library.found() == [document.id]


# ---------------------------------------------------------------- Reindexing


# covers C-05
def test_reindexing_makes_a_new_version_of_the_same_text(library: LibraryWorld) -> None:
    document = library.stored(tags=["silk"], metadata={"a": 1})
    library.clock.advance(60)
    answer = library.send("POST", f"/{document.id}/reindex")
    assert answer.status == 202
    assert library.queue.sent[-1].lane == Lane("documents-low")
    job = library.work(answer.body["job_id"])
    after = library.documents.get(TENANT, document.id)
    assert after is not None
    assert job.status is JobStatus.COMPLETED
    assert after.version != document.version
    assert (after.tag_ids, after.annotations, after.content_hash) == (
        document.tag_ids,
        document.annotations,
        document.content_hash,
    )
    assert {each.version for each in library.index.held.values()} == {after.version}
    assert (after.changed_at, after.crawled_at) == (document.changed_at, document.crawled_at)
    assert len(library.embedder.embedded) == 1  # its vector is cached for a week


def test_a_text_that_changes_while_it_is_reindexed_is_kept(
    library: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = {"url": "https://site.example/"}
    document = library.stored("Silk of worms.", **page)
    tokenize = library.embedder.tokenize

    def raced(*given: Any) -> Any:
        monkeypatch.setattr(library.embedder, "tokenize", tokenize)
        library.stored("Silk of spiders.", **page)
        return tokenize(*given)

    answer = library.send("POST", f"/{document.id}/reindex")
    monkeypatch.setattr(library.embedder, "tokenize", raced)
    assert library.work(answer.body["job_id"]).status is JobStatus.COMPLETED
    assert library.send("GET", f"/{document.id}").body["content"] == "Silk of spiders."


def test_a_reindexed_page_knows_still_what_it_was_read_from(library: LibraryWorld) -> None:
    row = library.stored()
    origin = Origin(asked="a", headers={"etag": "1"}, media_type="text/html", parts_key="p")
    library.documents.commit(replace(row, sequence=row.sequence + 1, origin=origin), row)
    library.work(library.send("POST", f"/{row.id}/reindex").body["job_id"])
    after = library.documents.get(TENANT, row.id)
    assert after is not None
    assert (after.version != row.version, after.origin) == (True, origin)


def test_a_document_that_was_deleted_meanwhile_is_not_reindexed(library: LibraryWorld) -> None:
    document = library.stored()
    answer = library.send("POST", f"/{document.id}/reindex")
    library.send("DELETE", f"/{document.id}")
    assert library.work(answer.body["job_id"]).status is JobStatus.FAILED
    assert library.found() == []


def test_another_tenant_s_document_is_unknown(library: LibraryWorld) -> None:
    document = library.stored()
    for method, rest, body in (
        ("GET", "", None),
        ("PATCH", "", {"metadata": {}}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("GET", "/chunks", None),
    ):
        answer = library.send(method, f"/{document.id}{rest}", body, tenant="globex")
        assert answer.status == 404
    assert ids(library.send("GET", tenant="globex")) == []


def test_a_waiting_upload_is_answered_with_its_job(library: LibraryWorld) -> None:
    given = {"content": "Spiders weave silk.", "wait": 25}
    late = library.send("POST", "", given, headers={"Idempotency-Key": "k"})
    assert (late.status, late.body["status"]) == (202, "pending")
    library.work(late.body["job_id"])
    done = library.send("POST", "", {**given, "wait": 1}, headers={"Idempotency-Key": "k"})
    assert (done.status, done.body["status"]) == (200, "completed")
    assert (done.body["job_id"], done.headers["Idempotent-Replayed"]) == (
        late.body["job_id"],
        "true",
    )
    assert done.body["result"]["document_id"] == late.body["document_id"]


def test_a_document_of_a_batch_has_no_wait(library: LibraryWorld) -> None:
    answer = library.send("POST", "/batch", {"documents": [{"content": "silk", "wait": 1}]})
    assert answer.body["jobs"][0]["error"]["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Silk", "Silk"),
        ("#\tSilk  ## ", "Silk"),
        ("# C#", "C#"),
        ("## Below\n# Silk #5", "Silk #5"),
        ("#   \n# Silk", "Silk"),
        ("#Silk", None),
        ("```sh\n# a comment\n```\n\n# Silk", "Silk"),
        (f"# {'silk' * 10_000}", "silk" * 125),  # a DynamoDB item has up to 400 KB
        (f"# a{' ' * 100_000}b", "a"),  # naive matching takes minutes
    ],
)
def test_the_first_heading_of_markdown_is_its_title(line: str, title: str | None) -> None:
    body = f"{line}\n\ntext".encode()
    assert content_of(body, MediaType.MARKDOWN, "upload://x", None).title == title
