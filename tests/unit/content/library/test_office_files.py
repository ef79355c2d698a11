"""Uploads of PDF and Word files, if the libraries that read them are installed."""

import base64
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest

from spinneret.content import limits
from spinneret.content.library.models import MediaType
from spinneret.content.library.reading import content_of
from spinneret.kernel.errors import ContentRefused
from tests.unit.content.library.files import docx, pdf
from tests.unit.content.library.library_world import LibraryWorld

pytest.importorskip("pypdf")
pytest.importorskip("mammoth")

TYPE = '<!DOCTYPE x [<!ENTITY many "silk silk silk">]>'


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        (MediaType.PDF, pdf("Spiders weave silk.", "Silk is strong.")),
        (MediaType.DOCX, docx("Spiders weave silk.", "Silk is strong.")),
    ],
)
def test_files_of_text_are_read_and_found(
    library: LibraryWorld, media_type: MediaType, body: bytes
) -> None:
    answer = library.send(
        "POST",
        "",
        {
            "title": "Silk",
            "content_base64": base64.b64encode(body).decode(),
            "content_type": media_type.value,
        },
    )
    job = library.work(answer.body["job_id"])
    assert job.result is not None, job.last_error
    assert job.result["title"] == "Silk"
    assert library.found("strong") == [answer.body["document_id"]]


@pytest.mark.parametrize("media_type", [MediaType.PDF, MediaType.DOCX])
@pytest.mark.parametrize("body", [b"", b"x", b"PK\x03\x04 broken", b"%PDF-1.4\nbroken"])
def test_what_is_no_such_file_is_refused(media_type: MediaType, body: bytes) -> None:
    with pytest.raises(ContentRefused):
        content_of(body, media_type, "upload://x", None)


def encrypted(packed: bytes) -> bytes:
    """Return the archive with the encryption flag set on every entry."""
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


@pytest.mark.parametrize(("bound", "most"), [("DOCX_MAX_BYTES", 20_000), ("DOCX_MAX_TAGS", 500)])
def test_a_file_that_unpacks_to_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    monkeypatch.setattr(limits, bound, most)
    assert content_of(docx(*["silk"] * 10), MediaType.DOCX, "upload://x", None).text
    with pytest.raises(ContentRefused, match="unpacked"):
        content_of(docx(*["silk"] * 1000), MediaType.DOCX, "upload://x", None)


def test_pictures_of_a_file_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DOCX_MAX_BYTES", 20_000)
    packed = BytesIO(docx("silk"))
    with ZipFile(packed, "a") as file:
        file.writestr("word/media/image1.png", b"<" * 30_000)
    assert content_of(packed.getvalue(), MediaType.DOCX, "upload://x", None).text == "silk"


@pytest.mark.parametrize(
    ("compression", "encoding", "document_type"),
    [(ZIP_LZMA, "utf-8", ""), (ZIP_DEFLATED, "utf-8", TYPE), (ZIP_DEFLATED, "utf-16", TYPE)],
)
def test_markup_that_grows_while_it_is_read_is_refused(
    compression: int, encoding: str, document_type: str
) -> None:
    """A decompressor or an entity may produce a thousand times its input."""
    packed = BytesIO()
    with ZipFile(BytesIO(docx("&many;"))) as plain, ZipFile(packed, "w", compression) as file:
        for name in plain.namelist():
            markup = plain.read(name).decode()
            if not document_type:
                markup = markup.replace("&many;", "silk")
            file.writestr(name, (document_type + markup).encode(encoding))
    with pytest.raises(ContentRefused, match=r"unusual compression|document type"):
        content_of(packed.getvalue(), MediaType.DOCX, "upload://x", None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_file_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PARSE_SECONDS", 0.05)
    form = "BT /F1 12 Tf (silk) Tj ET " * 20_000
    endless = pdf("silk").replace(b"endstream", f"{form}endstream".encode())
    with pytest.raises(ContentRefused, match="too long"):
        content_of(endless, MediaType.PDF, "upload://x", None)


def test_a_file_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PDF_PAGES_MAX", 1)
    with pytest.raises(ContentRefused, match="pages"):
        content_of(pdf("one", "two"), MediaType.PDF, "upload://x", None)
