"""Pages in a browser through the deployed application: images, PDFs, scripts and crawls."""

import io
from typing import Any

import httpx
import pytest
from pypdf import PdfReader

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.pixels import BLUE, GREEN, RED, WHITE, Image, is_colour

pytestmark = pytest.mark.stack

SECONDS = 90.0


def finished(tenant: Tenant, path: str, **body: Any) -> dict[str, Any]:
    """Submit a job, and wait for its end; return its body."""
    made = tenant("POST", f"/api/v1/{path}", body)
    assert made.status_code == 202, made.text
    return tenant.ended(f"/api/v1/media/{made.json()['job_id']}", SECONDS)


def downloaded(media: dict[str, Any]) -> bytes:
    """Return the object of finished media."""
    assert media["status"] == "completed", media
    answer = httpx.get(media["download_url"], trust_env=False, timeout=30)
    assert answer.headers["content-type"] == media["media_type"]
    assert len(answer.content) == media["bytes"]
    return answer.content


# covers C-11
def test_a_screenshot_shows_the_page(tenant: Tenant, website: Website) -> None:
    window = {"width": 100, "height": 80}
    media = finished(tenant, "screenshot", url=f"{website.url}/squares", viewport=window)
    image = Image(downloaded(media))
    assert (image.width, image.height) == (100, 200)
    for x, y, colour in ((10, 10, RED), (30, 10, WHITE), (90, 70, BLUE), (50, 190, GREEN)):
        assert is_colour(image.at(x, y), colour), (x, y)
    assert (media["final_url"], media["status_code"]) == (f"{website.url}/squares", 200)


def test_a_pdf_has_the_page_s_text(tenant: Tenant, website: Website) -> None:
    media = finished(tenant, "pdf", url=f"{website.url}/page?text=felted+wool")
    [sheet] = PdfReader(io.BytesIO(downloaded(media))).pages
    assert "felted wool" in sheet.extract_text()


def test_scripts_have_values_and_errors(tenant: Tenant, website: Website) -> None:
    url = f"{website.url}/page?text=felted+wool"
    media = finished(tenant, "execute-js", url=url, scripts=["document.title", "missing()"])
    value, error = media["scripts"]
    assert value == {"value": "felted wool", "error": None}
    assert (error["error"]["code"], error["error"]["details"]["line"]) == ("SCRIPT_ERROR", 1)
    assert downloaded(media)


def test_a_page_that_leads_inside_is_not_shown(
    tenant: Tenant, deployed: Deployed, website: Website
) -> None:
    inside = deployed.stack.gateway_url
    media = finished(tenant, "screenshot", url=f"{website.url}/moved?to={inside}/")
    assert (media["status"], media["error"]["code"]) == ("failed", "URL_BLOCKED")
    assert media["download_url"] is None


@pytest.mark.parametrize("render", [True, "auto"])
def test_a_page_that_is_nothing_without_scripts_becomes_searchable(
    tenant: Tenant, website: Website, render: bool | str
) -> None:
    url = f"{website.url}/scripted?text=heddle+looms"
    plain = tenant.finished(tenant.crawl(url), SECONDS)
    assert plain["status"] == "failed"
    job = tenant.finished(tenant.crawl(url, render=render, wait_for="#app p"), SECONDS)
    assert job["status"] == "completed", job
    assert "heddle looms" in job["markdown"]
    [hit] = tenant.search("heddle looms", limit=1)
    assert hit["document_id"] == job["document_id"]


def test_auto_only_fetches_a_page_with_text(tenant: Tenant, website: Website) -> None:
    url = f"{website.url}/page?text=tablet+weaving"
    job = tenant.finished(tenant.crawl(url, render="auto"), SECONDS)
    assert job["status"] == "completed", job
    assert website.pages["/page?text=tablet+weaving"] == 1


def test_readiness_shows_the_browser(tenant: Tenant) -> None:
    assert tenant("GET", "/health/ready").json()["checks"]["browser"]["status"] == "ok"
