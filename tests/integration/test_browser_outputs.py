"""Images, PDFs, DOMs and scripts of pages, on the real browser."""

import base64
import io
import ssl
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pypdf import PdfReader

from spinneret.kernel.errors import (
    ContentRefused,
    FetchFailed,
    PageTooLarge,
    RenderTimeout,
    ScriptError,
)
from spinneret.web.browser import chromium_process, devtools, limits
from spinneret.web.browser.models import (
    Dom,
    ImageFormat,
    Paper,
    Pdf,
    RenderRequest,
    Screenshot,
    Scripts,
    Viewport,
)
from spinneret.web.fetching.urls import Url, parse_url
from tests.fakes.guarded_fetch import USER_AGENT
from tests.fakes.scripted_server import HOST, ScriptedServer, answer, in_turn, redirect
from tests.integration.browsers import chromium, render
from tests.pixels import BLUE, GREEN, RED, SQUARES, WHITE, Image, is_colour

pytestmark = pytest.mark.heavy

SHOWN = answer(SQUARES)


# covers C-11
def test_an_image_shows_the_page_as_a_browser_does(server: ScriptedServer, tmp_path: Path) -> None:
    server.behaviours["/"] = SHOWN
    view = Viewport(width=100, height=80, scale=2)
    page = render(tmp_path, server, task=Screenshot(), viewport=view)
    image = Image(page.body)
    assert (image.width, image.height) == (200, 400)
    for x, y, colour in ((10, 10, RED), (30, 10, WHITE), (90, 70, BLUE), (50, 190, GREEN)):
        assert is_colour(image.at(2 * x, 2 * y), colour), (x, y)
    assert not page.is_cut
    assert server.requests[0].headers["user-agent"] == USER_AGENT


#
def test_lab_figures_are_the_browsers_whatever_the_page_says(
    server: ScriptedServer, tmp_path: Path
) -> None:
    """The page moves its text down by a third of the window, well after the text was painted."""
    server.behaviours["/"] = answer(
        b"<!doctype html><title>t</title><p style='height:400px;background:red'>Text</p><script>"
        b"window.PerformanceObserver = class { observe() { throw 1; } };"
        b"const seen = () => setTimeout(() => { const box = document.createElement('div');"
        b"box.style.height = '300px'; document.body.prepend(box); }, 300);"
        b"requestAnimationFrame(() => requestAnimationFrame(seen));</script>"
    )
    page = render(tmp_path, server, task=Dom(is_measured=True), wait_seconds=0.6)
    assert page.figures is not None
    first, largest = (
        page.figures.first_contentful_paint_ms,
        page.figures.largest_contentful_paint_ms,
    )
    assert first is not None
    assert largest is not None
    assert 0 < first <= largest < 20_000
    assert page.figures.layout_shift is not None
    assert 0.1 < page.figures.layout_shift < 1
    assert render(tmp_path, server, task=Dom()).figures is None


@pytest.mark.parametrize(
    ("task", "size", "colour"),
    [
        (Screenshot(full_page=False), (100, 80), RED),
        (Screenshot(selector="#low"), (20, 20), GREEN),
    ],
    ids=["viewport", "element"],
)
def test_an_image_may_show_a_part(
    server: ScriptedServer,
    tmp_path: Path,
    task: Screenshot,
    size: tuple[int, int],
    colour: tuple[int, ...],
) -> None:
    server.behaviours["/"] = SHOWN
    view = Viewport(width=100, height=80)
    image = Image(render(tmp_path, server, task=task, viewport=view).body)
    assert (image.width, image.height) == size
    assert is_colour(image.at(10, 10), colour)


@pytest.mark.parametrize(
    ("form", "start"), [(ImageFormat.JPEG, b"\xff\xd8\xff"), (ImageFormat.WEBP, b"RIFF")]
)
def test_images_have_the_format_that_was_asked_for(
    server: ScriptedServer, tmp_path: Path, form: ImageFormat, start: bytes
) -> None:
    server.behaviours["/"] = SHOWN
    assert render(tmp_path, server, task=Screenshot(format=form)).body.startswith(start)


def test_a_pdf_has_the_pages_and_text_of_the_page(server: ScriptedServer, tmp_path: Path) -> None:
    sheets = (f"<p style='break-after: page'>Sheet {each} of silk" for each in range(1, 4))
    server.behaviours["/"] = answer("".join(sheets).encode())
    task = Pdf(paper=Paper.LETTER, landscape=True)
    reader = PdfReader(io.BytesIO(render(tmp_path, server, task=task).body))
    assert [page.extract_text().strip() for page in reader.pages] == [
        f"Sheet {each} of silk" for each in range(1, 4)
    ]
    assert (reader.pages[0].mediabox.width, reader.pages[0].mediabox.height) == (792, 612)


def test_a_dom_is_what_scripts_have_made_of_the_page(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.behaviours["/"] = answer(
        b"""<!doctype html><body><script>
        setTimeout(() => document.body.innerHTML = '<p id=late>Woven late: \xc3\xa9', 300);
        Element.prototype.__defineGetter__('outerHTML', () => 'a lie');
        console.error('a thread', 'broke'); setTimeout(() => { throw new Error('slack') });
        </script>""",
        status=404,
        content_type="text/html; charset=utf-8",
    )
    page = render(tmp_path, server, task=Dom(), wait_for="#late")
    assert '<p id="late">Woven late: é</p>' in page.body.decode()
    assert (page.status_code, page.media_type) == (404, "text/html")
    assert page.console_errors[0] == "a thread broke"
    assert page.console_errors[1].startswith("Error: slack")
    assert page.transferred_bytes > 300


def test_each_script_has_its_own_result_or_error(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SCRIPT_SECONDS", 1.0)
    server.behaviours["/"] = answer(b"<title>Silk</title>")
    cases = {
        "document.title": '"Silk"',
        "new Promise(done => setTimeout(() => done({a: [1, null]}), 50))": '{"a":[1,null]}',
        "undefined": "null",
        "\n\n  nothing.here": {"line": 3, "column": 3},
        "throw 'slack'": {"line": 1, "column": 1},
        "1 +": {"line": 1, "column": 4},
        "10n": {},
        "'x'.repeat(2 ** 20)": {},
        "const a = {}; a.a = a; a": {},
        "while (true);": {},
        "new Promise(() => {})": {},
        "1 + 1": "2",
    }
    page = render(tmp_path, server, task=Scripts(sources=tuple(cases)))
    found = [
        each.value if each.error is None else dict(each.error.details) for each in page.scripts
    ]
    assert dict(zip(cases, found, strict=True)) == cases


def test_a_result_that_no_message_holds_ends_the_rendering(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devtools, "MESSAGE_MAX_BYTES", 100_000)
    server.behaviours["/"] = answer(b"<p>")
    with pytest.raises(PageTooLarge, match=HOST):
        render(tmp_path, server, task=Scripts(sources=("'x'.repeat(2 ** 20)",)))


def test_every_main_document_is_announced_before_its_request(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.behaviours |= {
        "/": redirect("/second"),
        "/second": answer(b"<script>location = '/third'</script>"),
        "/third": answer(b"<p id=third><iframe src=/frame></iframe>"),
        "/frame": answer(b"<p>"),
    }
    seen: list[str] = []

    def announce(url: Url) -> None:
        assert not [each for each in server.requests if each.target == url.path]
        seen.append(url.path)

    page = render(tmp_path, server, task=Dom(), wait_for="#third", before_document=announce)
    assert seen == ["/", "/second", "/third"]
    assert page.url == parse_url(server.url("/third"))


def test_a_main_document_may_be_refused(server: ScriptedServer, tmp_path: Path) -> None:
    class RefusedError(Exception):
        pass

    def refuse(url: Url) -> None:
        raise RefusedError

    with pytest.raises(RefusedError):
        render(tmp_path, server, before_document=refuse)
    assert server.requests == []


@pytest.mark.parametrize(
    ("request_of", "error"),
    [
        ({"wait_for": "#never", "total_seconds": 2.0}, RenderTimeout),
        ({"wait_for": "a["}, ScriptError),
        ({"path": "/zip"}, ContentRefused),
        ({"path": "/empty"}, ContentRefused),
        ({"path": "/cut"}, FetchFailed),
    ],
    ids=["missing element", "bad selector", "download", "no content", "no response"],
)
def test_a_page_that_gives_nothing_ends_with_its_reason(
    server: ScriptedServer,
    tmp_path: Path,
    request_of: dict[str, object],
    error: type[Exception],
) -> None:
    server.behaviours |= {
        "/": answer(b"<p>"),
        "/zip": answer(b"PK", content_type="application/zip"),
        "/empty": answer(status=204),
        "/cut": lambda exchange: exchange.sock.close(),
    }
    with pytest.raises(error):
        render(tmp_path, server, **request_of)  # type: ignore[arg-type]  # by name


@pytest.fixture
def secure() -> Iterator[tuple[ScriptedServer, str]]:
    """Provide a TLS server, and the digest of its key in the form of a Chromium flag."""
    context, certificate = (
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
        trustme.CA().issue_cert("site.test"),
    )
    certificate.configure_cert(context)
    parsed = x509.load_pem_x509_certificate(certificate.cert_chain_pems[0].bytes())
    key = parsed.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    with ScriptedServer({"/": answer(b"<title>Silk</title>")}, tls=context) as server:
        yield server, base64.b64encode(sha256(key).digest()).decode()


# covers C-11
@pytest.mark.parametrize("is_trusted", [True, False])
def test_tls_is_the_browsers_own_through_the_proxy(
    secure: tuple[ScriptedServer, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_trusted: bool,
) -> None:
    server, digest = secure
    flag = f"--ignore-certificate-errors-spki-list={digest}"
    if is_trusted:
        monkeypatch.setattr(chromium_process, "FLAGS", (*chromium_process.FLAGS, flag))
    browser = chromium(tmp_path, f"site.test:{server.port}", resolver=lambda *_: [HOST])
    request = RenderRequest(url=parse_url(server.url(host="site.test")), task=Dom())
    if is_trusted:
        assert b"Silk" in browser.render(request).body
        return
    with pytest.raises(FetchFailed) as failed:
        browser.render(request)
    assert failed.value.details == {"reason": "tls"}
    assert server.requests == []


def test_a_name_without_an_address_is_reported_as_by_a_fetch(tmp_path: Path) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise FetchFailed(f"{host} could not be resolved", details={"reason": "unknown_host"})

    with pytest.raises(FetchFailed) as failed:
        chromium(tmp_path, resolver=unknown).render(
            RenderRequest(url=parse_url("https://no.test/"), task=Dom())
        )
    assert failed.value.details["reason"] == "unknown_host"


def test_a_page_keeps_nothing_for_the_next_one(server: ScriptedServer, tmp_path: Path) -> None:
    page = b"<script>document.cookie = localStorage.a = 'a=1; max-age=99'</script>"
    server.behaviours["/"] = answer(page)
    kept = Scripts(sources=("document.cookie", "localStorage.a"))
    render(tmp_path, server)
    server.behaviours["/"] = in_turn(answer(b"<p>"))
    outcomes = render(tmp_path, server, task=kept).scripts
    assert [each.value for each in outcomes] == ['""', "null"]
    assert list(tmp_path.iterdir()) == []
