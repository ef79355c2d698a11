"""The console's pages in a browser; every text that the API returns is an attack."""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from spinneret.access.permissions import ROLE_PERMISSIONS, Role
from spinneret.runtime.console.site import ConsoleSite, read_site
from tests.consoles import (
    HARMLESS,
    NARROW,
    NARROWEST,
    WIDE,
    Size,
    Window,
    axe_in,
    built_console,
    running_browser,
)
from tests.fakes.described_api import Answer, DescribedApi, console_on

MOST_BYTES, MOST_COMPRESSED_BYTES = 250_000, 80_000
PAYLOADS = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    '"><svg onload=alert(3)>',
    "'-alert(4)-'",
    "javascript:alert(5)",
    "JaVaScRiPt:alert(6)",
    "\x01javascript:alert(7)",
    "data:text/html,<script>alert(8)</script>",
    "vbscript:msgbox(9)",
    "{{constructor.constructor('alert(10)')()}}",
    "${alert(11)}",
    "<iframe srcdoc='<script>alert(12)</script>'>",
    "<a href=javascript:alert(13)>x</a>",
    "<math><mi//xlink:href='data:x,<script>alert(14)</script>'>",
    "<details open ontoggle=alert(15)>",
    "<style>@import'//evil.example/x.css'</style>",
    "<link rel=stylesheet href=//evil.example/16.css>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<object data=//evil.example></object>",
    "<embed src=//evil.example>",
    "<form action=//evil.example><button>19</button>",
    "<input autofocus onfocus=alert(20)>",
    "<video><source onerror=alert(21)>",
    "<body onload=alert(22)>",
    "<template shadowrootmode=open><img src=x onerror=alert(23)></template>",
    "</title><script>alert(24)</script>",
    "--><script>alert(25)</script>",
    "]]><script>alert(26)</script>",
    "\u202egnp.exe\u202c <b onmouseover=alert(27)>",
    "__proto__",
    "https://evil.example/%22onclick=alert(29)//",
)
PLAIN = ("https://example.com/orb-webs", "Orb webs", "spider", "A wheel of silk")
PLACES = (
    "home",
    "crawl",
    "crawl/job/x",
    "crawl/sources",
    "crawl/sources/x",
    "crawl/discovery",
    "crawl/discovery/x",
    "crawl/inbox",
    "crawl/inbox/x",
    "crawl/media",
    "crawl/media/x",
    "search?q=silk&compare=keyword",
    "documents",
    "documents/x",
    "documents/collections",
    "documents/tags",
    "jobs",
    "jobs/x",
    "settings/webhooks",
    "settings/webhooks/x",
    "settings/keys",
    "settings/people",
    "settings/hosts",
    "settings/hosts/x",
    "settings/proxies",
    "settings/configurations",
    "settings/caches",
    "settings/statistics",
    "settings/account",
    "watch",
    "watch/link/x",
    "watch/windows",
    "watch/import",
    "watch/status-page",
    "audits",
    "audits/audit/x",
    "audits/schedules",
    "publish/products",
    "publish/product/x",
    "publish/batches",
    "publish/batch/x",
    "publish/job/x",
    "publish/connections",
    "publish/orders",
    "publish/listings",
    "nowhere",
)
OUTSIDE = ("sign-in", "sign-in/key", "invitation?tenant=acme&invitation=x")
"""Pages for people who haven't signed in."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("console")


@pytest.fixture(scope="module")
def built(scratch: Path) -> Path:
    return built_console(scratch)


@pytest.fixture(scope="module")
def site(built: Path) -> ConsoleSite:
    return read_site(built)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


def shown(window: Window, url: str, place: str) -> None:
    """Open a page of the console and wait until its requests have been answered."""
    window.page.goto(f"{url}#/{place}")
    expect(window.page.locator("main h1")).to_be_visible()
    expect(window.page.locator(".loading")).to_have_count(0)


def without_session(_: str, path: str) -> Answer | None:
    """Answer a refresh with 401, as there is no session; return None for other paths."""
    if path != "/api/v1/auth/refresh":
        return None
    return 401, {"error": "no session", "code": "AUTH_REQUIRED", "details": {}}


def dialogs_opened(window: Window, url: str, place: str) -> Iterator[str]:
    """Press a button of each name; yield the name while the button's dialog is open."""
    names = window.page.locator("main button[type=button]:enabled").all_inner_texts()
    for name in dict.fromkeys(names):
        if HARMLESS.fullmatch(name):
            continue
        if window.opens_dialog(name):
            yield name
            window.page.keyboard.press("Escape")
        if not window.page.url.endswith(f"#/{place}"):
            shown(window, url, place)


# covers K-01
def test_all_files_together_stay_small(built: Path) -> None:
    content = b"".join(each.read_bytes() for each in sorted(built.rglob("*")) if each.is_file())
    assert len(content) <= MOST_BYTES
    assert len(gzip.compress(content, 9)) <= MOST_COMPRESSED_BYTES


# covers K-02
@pytest.mark.parametrize(
    ("size", "other"),
    [(WIDE, NARROW), pytest.param(NARROW, WIDE, marks=pytest.mark.proof)],
    ids=["wide-light", "narrow-dark"],
)
def test_no_text_of_any_answer_runs_and_every_page_is_accessible(
    browser: Browser, site: ConsoleSite, scratch: Path, size: Size, other: Size
) -> None:
    problems = []
    api = DescribedApi(PAYLOADS)
    with console_on(api, site) as url:
        window = Window(browser, size, axe=axe_in(scratch))
        for place in PLACES:
            shown(window, url, place)
            window.unfold()
            problems += [f"{place}: {each}" for each in window.problems()]
            for narrow in (other, NARROWEST):
                window.resize(narrow)
                if window.is_too_wide():
                    problems.append(f"{place}: has to be scrolled sideways at another size")
            for name in dialogs_opened(window, url, place):
                window.unfold()
                problems += [f"{place}, {name}: {each}" for each in window.problems()]
            window.resize(size)
        window.close()
        api.scripted.append(without_session)
        window = Window(browser, size, axe=axe_in(scratch))
        for place in OUTSIDE:
            shown(window, url, place)
            problems += [f"{place}: {each}" for each in window.problems()]
        window.close()
    assert problems == []


# covers K-03
def test_a_viewer_is_offered_nothing_that_would_be_refused(
    browser: Browser, site: ConsoleSite
) -> None:
    offered = []
    with console_on(DescribedApi(PLAIN, role=Role.VIEWER), site) as url:
        window = Window(browser, WIDE)
        for place in PLACES:
            shown(window, url, place)
            names = window.page.get_by_role("button").all_inner_texts()
            offered += [f"{place}: {name}" for name in names if not HARMLESS.fullmatch(name)]
        window.close()
    assert offered == []


# covers K-03
def test_a_key_with_write_scope_is_offered_an_import_but_no_connection(
    browser: Browser, site: ConsoleSite
) -> None:
    key = {"kind": "key", "tenant": "acme", "role": None, "scopes": ["write"]}
    known = {**key, "permissions": sorted(ROLE_PERMISSIONS[Role.ADMIN])}
    action = {"marketplace": "ebay", "code": "import", "name": "Import", "supported": True}

    def as_key(_: str, path: str) -> Answer | None:
        if path.endswith("/action-types"):
            return 200, {"items": [action]}
        return (200, known) if path.endswith("/auth/me") else None

    with console_on(DescribedApi(PLAIN, scripted=[as_key]), site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "publish/connections")
        expect(window.page.get_by_role("button", name="Import listings")).to_be_visible()
        expect(window.page.get_by_role("button", name=re.compile("onnect"))).to_have_count(0)
        window.close()


# covers K-04
def test_jobs_of_a_batch_come_page_by_page_and_those_that_need_the_seller_alone(
    browser: Browser, site: ConsoleSite
) -> None:
    api = DescribedApi(PLAIN)

    def failed(method: str, path: str) -> Answer | None:
        if path != "/api/marketplace/jobs":
            return None
        [row, *_] = api.described(method, path)[1]["items"]
        items = [
            {**row, "job_id": f"{code}_{len(api.asked)}", "error": {"code": code, "error": code}}
            for code in ("MARKETPLACE_UNAVAILABLE", "NEEDS_INPUT")
        ]
        return 200, {"items": items, "next_cursor": "second", "has_more": True}

    api.scripted.append(failed)
    with console_on(api, site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "publish/batch/x?status=needs_input")
        rows = window.page.get_by_role("table", name="Jobs").locator("tbody tr")
        expect(rows).to_have_count(1)
        with window.page.expect_request(re.compile(r"cursor=second")) as asked:
            window.page.get_by_role("button", name="Show more").click()
        expect(rows).to_have_count(2)
        window.close()
    assert "status=failed" in asked.value.url


# covers M-04
def test_a_day_without_a_verdict_is_neither_up_nor_down(
    browser: Browser, site: ConsoleSite
) -> None:
    api = DescribedApi(PLAIN)
    today = datetime.now(UTC).date()

    def days(method: str, path: str) -> Answer | None:
        if not path.endswith("/days"):
            return None
        [row, *_] = api.described(method, path)[1]["items"]
        figures = [(2, 1.0, 0), (1, None, 0), (0, 0.5, 9)]
        items = [
            {
                **row,
                "day": str(today - timedelta(ago)),
                "uptime": up,
                "degraded_ms": 0,
                "down_ms": down,
            }
            for ago, up, down in figures
        ]
        return 200, {"items": items}

    api.scripted.append(days)
    with console_on(api, site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "watch/link/x")
        strip = window.page.get_by_role("img", name="1 day with failures")
        expect(window.page.get_by_text("Latency by day")).to_be_visible()
        tones = strip.locator("rect").evaluate_all("all => all.map(each => each.className.baseVal)")
        window.close()
    assert tones == ["none"] * 87 + ["good", "none", "bad"]


def test_a_product_shows_what_a_marketplace_has_instead(
    browser: Browser, site: ConsoleSite
) -> None:
    api = DescribedApi(PLAIN)
    other = {
        "price": 1999,
        "category_id": "c7",
        "attributes": {},
        "choices": {"location": "berlin"},
    }

    def product(method: str, path: str) -> Answer | None:
        if path != "/api/products/x":
            return None
        return 200, {
            **api.described(method, path)[1],
            "currency": "EUR",
            "overrides": {"ebay": other},
        }

    api.scripted.append(product)
    with console_on(api, site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "publish/product/x")
        instead = window.page.get_by_text("€19.99, category: c7, location: berlin")
        expect(instead).to_be_visible()
        window.close()


# covers K-04
@pytest.mark.parametrize("place", ["crawl/sources", "documents", "jobs", "settings/webhooks"])
def test_a_list_without_rows_says_what_to_do(
    browser: Browser, site: ConsoleSite, place: str
) -> None:
    with console_on(DescribedApi(PLAIN, is_empty=True), site) as url:
        window = Window(browser, NARROW)
        shown(window, url, place)
        expect(window.page.locator(".empty p").nth(1)).not_to_be_empty()
        window.close()


# covers K-03
def test_an_expired_token_is_renewed_amid_work_and_work_goes_on(
    browser: Browser, site: ConsoleSite
) -> None:
    refused: list[str] = []

    def once(_: str, path: str) -> Answer | None:
        if path == "/api/v1/jobs" and not refused:
            refused.append(path)
            return 401, {"error": "expired", "code": "AUTH_REQUIRED", "details": {}}
        return None

    api = DescribedApi(PLAIN, scripted=[once])
    with console_on(api, site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "jobs")
        expect(window.page.get_by_role("table")).to_be_visible()
        window.close()
    assert refused
    assert api.asked.count("POST /api/v1/auth/refresh") == 2  # at the start and after the refusal


# covers K-03
def test_an_ended_session_asks_for_a_sign_in_and_returns_to_the_place(
    browser: Browser, site: ConsoleSite
) -> None:
    with console_on(DescribedApi(PLAIN, scripted=[without_session]), site) as url:
        window = Window(browser, WIDE)
        window.page.goto(f"{url}#/documents/x")
        window.page.get_by_label("Organisation").fill("acme")
        window.page.get_by_label("E-mail address").fill("maya@example.com")
        window.page.get_by_label("Password", exact=True).fill("a password of some length")
        window.page.get_by_role("button", name="Sign in").click()
        expect(window.page.get_by_role("link", name="Documents").first).to_be_visible()
        assert window.page.url.endswith("#/documents/x")
        assert window.page.evaluate("localStorage.length + sessionStorage.length") == 0
        window.close()


# covers K-04
def test_a_filter_keeps_what_is_typed_while_the_page_is_drawn_again(
    browser: Browser, site: ConsoleSite
) -> None:
    with console_on(DescribedApi(PLAIN), site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "documents")
        host = window.page.get_by_label("Host")
        host.fill("example.com")
        window.page.evaluate("location.hash = '#/documents?source=crawl'")
        expect(window.page.get_by_label("Came by")).to_have_value("crawl")
        expect(host).to_have_value("example.com")
        host.press("Enter")
        expect(window.page).to_have_url(f"{url}#/documents?source=crawl&domain=example.com")
        window.close()


# covers K-04
def test_a_server_that_is_away_is_reported_and_tried_again(
    browser: Browser, site: ConsoleSite
) -> None:
    with console_on(DescribedApi(PLAIN), site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "documents")
        window.context.set_offline(True)
        window.page.get_by_label("Host").fill("example.com")
        window.page.get_by_label("Host").press("Enter")
        expect(window.page.get_by_role("alert").filter(has_text="can't be reached")).to_be_visible()
        window.context.set_offline(False)
        window.page.get_by_role("button", name="Try again").click()
        expect(window.page.get_by_role("table")).to_be_visible()
        assert "domain=example.com" in window.page.url
        window.page.reload()
        expect(window.page.get_by_label("Host")).to_have_value("example.com")
        window.close()


# covers K-04
@pytest.mark.parametrize(
    ("place", "opened", "entered", "button", "sent"),
    [
        (
            "crawl",
            ["Options"],
            {"Addresses": "https://a.example", "Wait there for this element": "#price"},
            "Crawl",
            {"url": "https://a.example", "render": True, "wait_for": "#price"},
        ),
        (
            "publish/product/x",
            ["Publish"],
            {"Begin at": "2026-12-01T08:30"},
            "Start with 1 product",
            {"product_ids": ["x"], "publish_at": "2026-12-01T08:30:00.000Z"},
        ),
    ],
    ids=["crawl-in-a-browser", "batch-that-begins-later"],
)
def test_a_form_sends_its_options(
    browser: Browser,
    site: ConsoleSite,
    place: str,
    opened: list[str],
    entered: dict[str, str],
    button: str,
    sent: dict[str, Any],
) -> None:
    with console_on(DescribedApi(PLAIN), site) as url:
        window = Window(browser, WIDE)
        shown(window, url, place)
        for name in opened:
            window.page.get_by_text(name, exact=True).last.click()
        if (choice := window.page.get_by_label("Open a page in a browser")).count():
            choice.select_option("always")
        for label, text in entered.items():
            window.page.get_by_label(label).fill(text)
        with window.page.expect_request(lambda each: each.method == "POST") as asked:
            window.page.get_by_role("button", name=button, exact=True).click()
        window.close()
    assert sent.items() <= asked.value.post_data_json.items()


# covers K-04
def test_an_error_is_shown_with_its_request_id(browser: Browser, site: ConsoleSite) -> None:
    def broken(method: str, path: str) -> Answer | None:
        if (method, path) == ("POST", "/api/v1/crawl"):
            return 422, {
                "error": "url is invalid",
                "code": "VALIDATION_ERROR",
                "details": {"fields": [{"path": "url", "message": "has no host"}]},
                "request_id": "req-17",
            }
        return None

    with console_on(DescribedApi(PLAIN, scripted=[broken]), site) as url:
        window = Window(browser, WIDE)
        shown(window, url, "crawl")
        window.page.get_by_label("Addresses").fill("https:///")
        window.page.get_by_role("button", name="Crawl", exact=True).click()
        alert = window.page.get_by_role("alert").filter(has_text="url is invalid")
        expect(alert).to_contain_text("has no host")
        expect(alert).to_contain_text("req-17")
        window.close()
