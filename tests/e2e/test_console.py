"""The deployed console in a browser: one test for each of its areas.

Each test runs in a window of one size and colour scheme; in `make prove` it runs in both.
"""

import json
import os
import re
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, expect

from spinneret.access.users.bootstrap import invite
from tests.consoles import HARMLESS, NARROW, WIDE, Size, Window, running_browser
from tests.e2e.audited_site import AuditedSite
from tests.e2e.conftest import Deployed
from tests.e2e.selling import connected_seller, made_product
from tests.e2e.website import Website
from tests.markets.server import MarketServer

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

IN_BOTH_SIZES = "SPINNERET_BOTH_SIZES" in os.environ
PASSWORD = "a password of some length"
TEXT = "Ballooning spiders rise on threads of gossamer when the electric field is strong"


def sized(usual: Size, other: Size) -> pytest.MarkDecorator:
    """Run the test in the usual size, and in `make prove` also in the other one."""
    sizes = [usual, other] if IN_BOTH_SIZES else [usual]
    names = ["wide-light" if each is WIDE else "narrow-dark" for each in sizes]
    return pytest.mark.parametrize("size", sizes, ids=names)


wide = sized(WIDE, NARROW)
narrow = sized(NARROW, WIDE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


def signed_in(browser: Browser, deployed: Deployed, key: str, size: Size) -> Window:
    """Return a window that is signed in with the key."""
    window = Window(browser, size)
    window.page.goto(f"{deployed.api_url}/console/index.html#/sign-in/key")
    window.page.get_by_label("API key").fill(key)
    window.page.get_by_role("button", name="Use this key").click()
    expect(window.page.get_by_role("heading", name="Home")).to_be_visible()
    return window


def invited(
    browser: Browser, deployed: Deployed, tenant: str, invitation: str, size: Size
) -> Window:
    """Return the window of an invited person, who has chosen a password."""
    window = Window(browser, size)
    page = window.page
    page.goto(f"{deployed.api_url}/console")
    page.goto(f"{page.url}#/invitation?tenant={tenant}&invitation={invitation}")
    page.get_by_label("New password").fill(PASSWORD)
    assert invitation not in page.url
    page.get_by_role("button", name="Choose the password").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    return window


def go(window: Window, place: str) -> None:
    """Show a place of the console without reloading the page, which would forget the key."""
    window.page.evaluate("place => { location.hash = `#/${place}`; }", place)


def choose(window: Window, name: str) -> None:
    """Choose from the menu; a narrow window hides it before and afterwards."""
    chosen = window.page.locator("#menu").get_by_text(name, exact=True)
    if chosen.is_visible():
        chosen.click()
    else:
        window.page.get_by_role("button", name="Menu").click()
        chosen.click()
        expect(chosen).to_be_hidden()


def closed(window: Window) -> None:
    """Assert that nothing went wrong in the window, and close it."""
    assert (window.violations(), window.failures) == ([], [])
    window.close()


# covers K-01, K-03
@wide
def test_an_invited_person_crawls_a_page_live_and_finds_it(
    deployed: Deployed, website: Website, browser: Browser, size: Size
) -> None:
    tenant = f"t-{uuid4().hex[:12]}"
    invitation = invite(
        deployed.aws.dynamodb(),
        deployed.aws("kms"),
        table=deployed.outputs["TenancyTable"],
        stage="local",
        tenant=tenant,
        email="maya@example.com",
    )
    window = invited(browser, deployed, tenant, invitation, size)
    page = window.page
    choose(window, "Crawl")
    page.get_by_label("Addresses").fill(f"{website.url}/page?text={TEXT}".replace(" ", "%20"))
    page.get_by_role("button", name="Crawl", exact=True).click()
    expect(page.get_by_text("The job has ended.")).to_be_visible()
    expect(page.get_by_role("heading", name="Chunks that searches find")).to_be_visible()
    expect(page.locator("pre.source")).to_contain_text("gossamer")

    choose(window, "Search")
    page.get_by_label("Question or words").fill("gossamer threads")
    hit = page.locator("li.hit").first
    expect(hit.locator("mark").first).to_have_text(re.compile("gossamer|threads"))
    page.reload()
    expect(hit).to_be_visible()
    page.go_back()
    expect(page.get_by_text("The job has ended.")).to_be_visible()

    choose(window, "Sign out")
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    closed(window)


# covers K-03
@narrow
def test_a_key_is_made_shown_once_used_and_revoked(
    deployed: Deployed, browser: Browser, size: Size
) -> None:
    tenant = deployed.tenant("admin")
    window = signed_in(browser, deployed, tenant.key, size)
    page = window.page
    choose(window, "Settings")
    page.get_by_role("link", name="Keys").click()

    page.get_by_role("button", name="New key").click()
    page.get_by_label("Name").fill("nightly import")
    page.get_by_role("button", name="Make the key").click()
    secret = page.get_by_label("Key", exact=True).input_value()
    page.get_by_role("button", name="Close").click()
    row = page.get_by_role("row").filter(has_text="nightly import")
    expect(row).to_contain_text("active")
    assert secret not in page.content()

    def status() -> int:
        url, headers = f"{deployed.api_url}/api/v1/auth/me", {"X-API-Key": secret}
        return httpx.get(url, headers=headers, timeout=40, trust_env=False).status_code

    assert status() == 200
    row.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    expect(row.get_by_role("button", name="Revoke")).to_have_count(0)
    page.wait_for_timeout(5_000)  # as long as a revoked key may still be admitted (T-01)
    assert status() == 401
    closed(window)
    tenant.close()


# covers K-05
@narrow
def test_a_watched_link_goes_down_and_up_before_ones_eyes(
    deployed: Deployed, website: Website, browser: Browser, size: Size
) -> None:
    tenant = deployed.tenant("admin")
    window = signed_in(browser, deployed, tenant.key, size)
    page = window.page
    go(window, "watch")
    page.get_by_role("button", name="Watch a link").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Address").fill(f"{website.url}/now?name={tenant.name}")
    form.get_by_text("Options", exact=True).click()
    form.get_by_label("Seconds between two checks").fill("15")
    form.get_by_label("Failures until it is down").fill("1")
    form.get_by_label("Successes until it is up").fill("1")
    form.get_by_role("button", name="Watch", exact=True).click()

    state = page.locator(".facts dd").first
    wait = 120_000  # the rule fires within a minute
    expect(state).to_have_text("up", timeout=wait)
    website.now[tenant.name] = 503
    expect(state).to_have_text("down", timeout=wait)
    incident = page.get_by_role("table", name="Incidents").get_by_role("row").last
    expect(incident).to_contain_text("goes on")
    go(window, "home")
    expect(page.get_by_role("table", name="Links that are down")).to_contain_text(tenant.name)
    page.go_back()
    website.now[tenant.name] = 200
    expect(state).to_have_text("up", timeout=wait)
    expect(incident).not_to_contain_text("goes on")
    closed(window)
    tenant.close()


# covers K-05
@wide
def test_a_batch_is_published_and_its_one_failure_retried(
    deployed: Deployed, browser: Browser, size: Size
) -> None:
    with deployed.only("markets"), MarketServer(deployed.market_port) as markets:
        seller = connected_seller(deployed)
        coats = [made_product(seller, f"Coat {letter} of {seller.name}") for letter in "ABC"]
        markets.ebay.refused_titles[coats[1]["title"]] = 25005
        window = signed_in(browser, deployed, seller.key, size)
        page = window.page
        go(window, "publish/products")
        for coat in coats:
            page.get_by_label(f"Choose {coat['title']}").check()
        page.get_by_role("button", name="Publish the chosen ones").click()
        form = page.get_by_role("dialog")
        form.get_by_label("Marketplace").select_option("ebay")
        form.get_by_role("button", name="Check first").click()
        expect(form.get_by_text("Every product can be published.")).to_be_visible()
        form.get_by_role("button", name="Start with 3 products").click()

        counters = page.locator(".counters")
        expect(page.locator(".job-state").first).to_contain_text("partially failed")
        expect(counters).to_contain_text(re.compile("2 done.*1 failed"))
        expect(page.get_by_role("row").filter(has_text="failed")).to_contain_text(
            "category isn't accepted"
        )
        markets.ebay.refused_titles.clear()
        page.get_by_role("button", name="Retry").click()
        expect(page.locator(".job-state").first).to_contain_text("completed")
        expect(counters).to_contain_text(re.compile("3 done.*0 failed"))
        assert all(len(markets.ebay.live(coat["sku"])) == 1 for coat in coats)
        closed(window)
        seller.close()


# covers K-05
@wide
def test_a_file_of_addresses_is_sent_and_a_page_shown_as_an_image(
    deployed: Deployed, website: Website, browser: Browser, size: Size
) -> None:
    tenant = deployed.tenant("admin")
    window = signed_in(browser, deployed, tenant.key, size)
    page = window.page
    url = f"{website.url}/page?text=orb"
    go(window, "crawl/inbox")
    file = {"name": "pages.txt", "mimeType": "text/plain", "buffer": url.encode()}
    page.locator("input[type=file]").set_input_files([file])
    expect(page.get_by_role("heading", name="pages.txt")).to_be_visible()
    expect(page.locator(".job-state").first).to_contain_text("completed")

    go(window, "crawl/media")
    page.get_by_label("Addresses").fill(url)
    page.get_by_role("button", name="Open it").click()
    image = page.get_by_role("img", name="The page")
    expect(image).to_be_visible(timeout=120_000)  # the first one starts a worker and the browser
    image.evaluate("image => image.decode()")
    closed(window)
    tenant.close()


# covers K-05
@narrow
def test_an_audit_is_read_and_compared_with_the_one_before(
    deployed: Deployed, browser: Browser, size: Size
) -> None:
    tenant = deployed.tenant("admin")
    window = signed_in(browser, deployed, tenant.key, size)
    page = window.page
    issue = page.locator("details").filter(has_text="title.missing")
    with (
        deployed.audited_host(),
        AuditedSite(deployed.site_port, broken=frozenset({"/oak"})) as site,
    ):
        audit(window, site)
        issue.locator("summary").click()
        expect(issue.get_by_role("row").filter(has_text="/oak")).to_be_visible()
        with page.expect_download() as file:
            page.get_by_role("button", name="JSON", exact=True).click()
        report = json.loads(file.value.path().read_text())
        score = int(report["score"] + 0.5)
        expect(page.get_by_role("img", name=f"Score {score} of 100")).to_be_visible()

        site.broken = frozenset()
        audit(window, site)
        expect(issue).to_have_count(0)
        fixed = page.get_by_role("table", name="Comparison").get_by_role("row")
        expect(fixed.filter(has_text="/oak").first).to_contain_text("fixed")
    closed(window)
    tenant.close()


def audit(window: Window, site: AuditedSite) -> None:
    """Audit the site with the form, and wait for the score."""
    page = window.page
    go(window, "audits")
    page.get_by_label("Start page").fill(f"{site.url}/")
    page.get_by_role("button", name="Audit", exact=True).click()
    expect(page.get_by_role("heading", name="Issues", exact=True)).to_be_visible()


# covers K-03
@wide
def test_an_invited_viewer_sees_no_button_that_would_be_refused(
    deployed: Deployed, browser: Browser, size: Size
) -> None:
    tenant = deployed.tenant("admin")
    owner = signed_in(browser, deployed, tenant.key, size)
    go(owner, "settings/people")
    owner.page.get_by_role("button", name="Invite somebody").click()
    owner.page.get_by_label("E-mail address").fill("vera@example.com")
    owner.page.get_by_label("Name", exact=True).fill("Vera")
    owner.page.get_by_role("button", name="Invite", exact=True).click()
    invitation = owner.page.get_by_label("Invitation", exact=True).input_value()
    closed(owner)

    viewer = invited(browser, deployed, tenant.name, invitation, size)
    offered = []
    areas = viewer.page.locator("#menu nav a").all_inner_texts()
    for area in areas:
        choose(viewer, area)
        expect(viewer.page.locator("main h1")).to_be_visible()
        expect(viewer.page.locator(".loading")).to_have_count(0)
        names = viewer.page.get_by_role("button").all_inner_texts()
        offered += [f"{area}: {name}" for name in names if not HARMLESS.fullmatch(name)]
    assert len(areas) >= 7
    assert offered == []
    closed(viewer)
    tenant.close()
