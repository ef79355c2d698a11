"""The deployed console in a browser: from an invitation to a search hit, and a key's whole life."""

import re
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, expect

from spinneret.access.users.bootstrap import invite
from tests.consoles import NARROW, WIDE, Window, running_browser
from tests.e2e.conftest import Deployed
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

PASSWORD = "a password of some length"
TEXT = "Ballooning spiders rise on threads of gossamer when the electric field is strong"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


# covers K-01, K-03
def test_an_invited_person_crawls_a_page_live_and_finds_it(
    deployed: Deployed, website: Website, browser: Browser
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
    window = Window(browser, WIDE)
    page = window.page
    page.goto(f"{deployed.api_url}/console")
    page.goto(f"{page.url}#/invitation?tenant={tenant}&invitation={invitation}")
    page.get_by_label("New password").fill(PASSWORD)
    assert invitation not in page.url
    page.get_by_role("button", name="Choose the password").click()

    page.get_by_role("link", name="Crawl", exact=True).click()
    page.get_by_label("Addresses").fill(f"{website.url}/page?text={TEXT}".replace(" ", "%20"))
    page.get_by_role("button", name="Crawl", exact=True).click()
    expect(page.get_by_text("The job has ended.")).to_be_visible()
    expect(page.get_by_role("heading", name="Chunks that searches find")).to_be_visible()
    expect(page.locator("pre.source")).to_contain_text("gossamer")

    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Question or words").fill("gossamer threads")
    hit = page.locator("li.hit").first
    expect(hit.locator("mark").first).to_have_text(re.compile("gossamer|threads"))
    page.reload()
    expect(hit).to_be_visible()
    page.go_back()
    expect(page.get_by_text("The job has ended.")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert (window.violations(), window.failures) == ([], [])
    window.close()


# covers K-03
def test_a_key_is_made_shown_once_used_and_revoked(deployed: Deployed, browser: Browser) -> None:
    tenant = deployed.tenant("admin")
    window = Window(browser, NARROW)
    page = window.page
    page.goto(f"{deployed.api_url}/console")
    page.get_by_role("button", name="API key").click()
    page.get_by_label("API key").fill(tenant.key)
    page.get_by_role("button", name="Use this key").click()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Settings").click()
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
    assert (window.violations(), window.failures) == ([], [])
    window.close()
    tenant.close()
