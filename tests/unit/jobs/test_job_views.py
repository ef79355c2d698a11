"""Views of a job for its tenant, and the sources of their fields (P-01, ruling "Job fields")."""

from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Job
from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import DependencyUnavailable, HttpRefused, HttpUnavailable
from tests import factories
from tests.fakes.time import START

SECOND = timedelta(seconds=1)
RUNNING = factories.running_job(START + 60 * SECOND)
PAGE = {"status_code": 200, "content_type": "text/html", "document_id": "doc_1"}


def completed(result: dict[str, Any]) -> Job:
    return rules.complete(RUNNING, result, START + 3 * SECOND)


def after(error: Exception, **given: Any) -> Job:
    return rules.after_error(
        factories.running_job(START + 60 * SECOND, **given), error, START + 3 * SECOND, 0.5
    )


def test_a_crawl_tells_how_its_page_answered() -> None:
    view = job_view(completed(PAGE))
    assert (view.status_code, view.content_type) == (200, "text/html")
    assert (view.error, view.error_type, view.error_summary) == (None, None, None)


@pytest.mark.parametrize("result", [{}, {"status_code": "200", "content_type": ["text/html"]}])
def test_a_job_of_another_kind_has_no_answer_of_a_page(result: dict[str, Any]) -> None:
    view = job_view(completed(result))
    assert (view.status_code, view.content_type) == (None, None)


# covers P-01
@pytest.mark.parametrize(
    ("error", "kind", "summary", "status_code"),
    [
        (
            HttpRefused("site.example answered 404", details={"status_code": 404}),
            "permanent",
            "site.example answered 404",
            404,
        ),
        (
            HttpUnavailable("site.example answered 503", details={"status_code": 503}),
            "transient",
            "site.example answered 503",
            503,
        ),
        (DependencyUnavailable("s3"), "dependency", "s3: temporarily unavailable", None),
        (ValueError("token=abc"), "internal", "ValueError", None),
    ],
    ids=["refused", "unavailable", "own part", "unexpected"],
)
def test_a_failure_is_shown_in_short_with_its_type_and_the_sites_status(
    error: Exception, kind: str, summary: str, status_code: int | None
) -> None:
    view = job_view(after(error))
    assert (view.error_type, view.error_summary) == (kind, summary)
    assert (view.status_code, view.content_type) == (status_code, None)
    assert view.error is not None
    assert view.error["error"] == summary


def test_a_run_lasts_from_its_start_to_its_end() -> None:
    assert job_view(RUNNING).duration_ms is None
    assert job_view(completed(PAGE)).duration_ms == 3000
    assert job_view(rules.cancel(factories.job(), START + SECOND)).duration_ms is None
    failed = after(HttpRefused("gone"), started_at=START - 10 * SECOND)
    assert job_view(failed).duration_ms == 13_000
    assert job_view(rules.retry(failed, START + 9 * SECOND)).duration_ms is None


def test_a_job_shows_when_it_was_last_moved() -> None:
    assert job_view(RUNNING).updated_at == to_iso(START)
    assert job_view(completed(PAGE)).updated_at == to_iso(START + 3 * SECOND)


def test_only_a_result_expires() -> None:
    day = timedelta(hours=24)
    assert job_view(completed(PAGE)).result_expires_at == to_iso(START + 3 * SECOND + day)
    for job in (RUNNING, after(HttpRefused("gone")), rules.cancel(RUNNING, START)):
        assert job_view(job).result_expires_at is None


def test_what_guards_a_job_is_not_shown() -> None:
    """The payload is hidden as well, because each kind's own view shows its public part."""
    inner = {"fence", "locked_by", "locked_until", "watchers", "payload", "notify", "sends"}
    assert not inner & job_view(RUNNING).model_dump().keys()
