"""A worker may die at any external call: the audit still ends, with the same result."""

import json
import os
from typing import IO, Any

import pytest

from spinneret.jobs.models import JobRef, JobStatus
from tests.fakes.auditing import AuditWorld
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.fetching import fetched_page
from tests.unit.audits.site import HOST, Page

STEP = int(os.environ.get("SPINNERET_AUDIT_CRASH_STEP", "5"))
"""Step between tested crash points (before and after each call); `make prove` tests all."""
PAGES = (
    Page(path="/", links=("/", "/oak"), body='<a href="https://other.example/">A friend</a>'),
    Page(path="/oak", links=("/", "/oak"), title=None),
)


def prepared(recipe: str) -> tuple[AuditWorld, JobRef]:
    world = AuditWorld()
    for page in PAGES:
        world.pages[page.url] = page.answer()
    world.pages["https://other.example/"] = fetched_page("https://other.example/")
    return world, world.submit(f"{HOST}/", recipe=recipe)


def crashes(recipe: str) -> list[tuple[int, Moment]]:
    world, ref = prepared(recipe)
    plan = CrashPlan()
    world.run(ref, plan.wrap)
    assert world.job(ref).status is JobStatus.COMPLETED
    return plan.points()[::STEP]


def reported(world: AuditWorld, ref: JobRef) -> dict[str, bytes]:
    """Return the stored pages and the report of an audit, without timestamps."""
    pages = {key: body for key, body in world.bodies.objects.items() if "/html/" in key}
    return {**pages, "report": world.report(ref, "csv")}


@pytest.mark.heavy
@pytest.mark.parametrize("recipe", ["hello", "seo"])
def test_a_worker_that_dies_at_any_call_loses_and_doubles_nothing(recipe: str) -> None:
    whole, ref = prepared(recipe)
    whole.settle(ref)
    expected = reported(whole, ref)
    assert len(expected) >= 2
    for at, moment in crashes(recipe):
        world, ref = prepared(recipe)
        plan = CrashPlan(at, moment)
        where = f"{moment} call {at}"
        with pytest.raises(Crash) as crash:
            world.run(ref, plan.wrap)
        where += f", {crash.value}"
        world.clock.advance(330)
        job = world.settle(ref)
        assert (job.status, job.attempts <= 1) == (JobStatus.COMPLETED, True), where
        assert reported(world, ref) == expected, where
        assert len(world.audits.ends) == 1, where
        rows = {each.storage_uri for each in world.audits.rows.values()}
        assert set(world.bodies.objects) <= rows, where


def test_a_worker_that_lost_its_claim_changes_no_report_of_the_next_one() -> None:
    """S3 accepts an object even if its sender has lost the claim."""
    world, ref = prepared("seo")
    finished: dict[str, bytes] = {}

    class Stalling:
        """Object store that stalls the first worker until another worker has finished the audit."""

        def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
            if "/report-json" in key:
                world.clock.advance(1000)
                world.settle(ref)
                finished.update(world.bodies.objects)
            world.bodies.put(key, body, media_type)

        def __getattr__(self, name: str) -> Any:
            return getattr(world.bodies, name)

    job = world.run(ref, lambda name, port: Stalling() if name == "bodies" else port)
    assert (job.status, job.attempts) == (JobStatus.COMPLETED, 1)
    assert finished.items() <= world.bodies.objects.items()
    url = world.service().report(ref.tenant, ref.job_id, "json").url
    assert f"/{job.fence}/report-json.json" in url
    assert json.loads(world.report(ref))["findings"]
    listed = world.service().artifacts(ref.tenant, ref.job_id, None, 100).items
    results = [each for each in listed if each.type.is_result]
    assert len(results) == len({each.type for each in results}) == 7
    assert all(each.storage_uri in finished for each in results)
