"""Uploads of PDF and Word files; where the libraries that read them are installed."""

import base64
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from spinneret.content import limits
from spinneret.content.library.models import MediaType
from spinneret.content.library.reading import content_of
from spinneret.kernel.errors import ContentRefused
from tests.unit.content.library.files import docx, pdf
from tests.unit.content.library.shelves import LibraryFixture

pytest.importorskip("pypdf")
pytest.importorskip("mammoth")


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        (MediaType.PDF, pdf("Spiders weave silk.", "Silk is strong.")),
        (MediaType.DOCX, docx("Spiders weave silk.", "Silk is strong.")),
    ],
)
def test_files_of_text_are_read_and_found(
    shelves: LibraryFixture, media_type: MediaType, body: bytes
) -> None:
    answer = shelves.send(
        "POST",
        "",
        {
            "title": "Silk",
            "content_base64": base64.b64encode(body).decode(),
            "content_type": media_type.value,
        },
    )
    job = shelves.work(answer.body["job_id"])
    assert job.result is not None, job.last_error
    assert job.result["title"] == "Silk"
    assert shelves.found("strong") == [answer.body["document_id"]]


@pytest.mark.parametrize("media_type", [MediaType.PDF, MediaType.DOCX])
@pytest.mark.parametrize("body", [b"", b"x", b"PK\x03\x04 broken", b"%PDF-1.4\nbroken"])
def test_what_is_no_such_file_is_refused(media_type: MediaType, body: bytes) -> None:
    with pytest.raises(ContentRefused):
        content_of(body, media_type, "upload://x", None)


def encrypted(packed: bytes) -> bytes:
    """The archive with the flag of encryption at every entry."""
    flagged = bytearray(packed)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := flagged.find(mark, at + 1)) >= 0:
            flagged[at + place] |= 1
    return bytes(flagged)


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        (MediaType.DOCX, encrypted(docx("silk"))),
        (MediaType.DOCX, docx("</w:t><w:sym/><w:t>")),
        (MediaType.PDF, pdf("silk").replace(b"/Pages 2 0 R", b"/Pages 9 0 R")),
    ],
    ids=["encrypted", "symbol", "pages"],
)
def test_whatever_a_parser_raises_the_file_is_refused(media_type: MediaType, body: bytes) -> None:
    with pytest.raises(ContentRefused, match="not a readable"):
        content_of(body, media_type, "upload://x", None)


@pytest.mark.heavy
def test_a_file_that_unpacks_to_too_much_is_refused() -> None:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", b"\0" * (limits.DOCX_MAX_BYTES + 1))
    with pytest.raises(ContentRefused, match="unpacked"):
        content_of(packed.getvalue(), MediaType.DOCX, "upload://x", None)


def test_a_file_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PDF_PAGES_MAX", 1)
    with pytest.raises(ContentRefused, match="pages"):
        content_of(pdf("one", "two"), MediaType.PDF, "upload://x", None)
