"""Crashes of parts and workers in the middle of a crawl."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spinneret.crawl import limits
from spinneret.jobs.sqs import dead_letters_url, lane_url
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from tests.conftest import Aws, Stack
from tests.e2e.audited_site import PATHS, AuditedSite
from tests.e2e.conftest import CRAWL_TIMEOUT, Deployed, Tenant
from tests.e2e.website import Website
from tests.kinds import CRAWL_HIGH
from tests.waiting import waited

pytestmark = [pytest.mark.stack, pytest.mark.timeout(360)]

# Time-out of the killed worker's invocation; with less than the margin it would release the job.
SHORT_SECONDS = int(bounds.DEADLINE_MARGIN_SECONDS + limits.FETCH_LEAST_SECONDS) + 5


@pytest.mark.alone
@pytest.mark.parametrize("part", ["embedder", "opensearch"])
def test_a_crawl_waits_for_a_part_that_is_down_and_ends_when_it_is_back(
    part: str, tenant: Tenant, website: Website, stack: Stack
) -> None:
    _end(_main_process(stack, part))
    try:
        job_id = tenant.crawl(f"{website.url}/page?text=resilient+{part}")
        waiting = tenant.wait(job_id, lambda job: job["error"] is not None, 60)
        assert waiting["status"] == "pending"
        assert waiting["error"]["code"] == "DEPENDENCY_UNAVAILABLE"
        assert waiting["attempts"] == 0
    finally:
        restarted = stack.command("up", seconds=180)
    assert restarted.returncode == 0, restarted.stdout + restarted.stderr
    job = tenant.finished(job_id, 90)
    assert (job["status"], job["attempts"]) == ("completed", 0)
    assert len(tenant.search(f"resilient {part}")) == job["result"]["chunks"]


@pytest.mark.alone
def test_a_crawl_and_an_audit_whose_workers_are_killed_complete_once(
    tenant: Tenant,
    website: Website,
    site: AuditedSite,
    stack: Stack,
    deployed: Deployed,
    aws: Aws,
) -> None:
    worker = deployed.resources["CrawlWorker"]
    website.hold()
    with time_out(aws, worker, SHORT_SECONDS):
        job_id = tenant.crawl(f"{website.url}/held?text=stubborn+mules", priority="low")
        assert website.arrived.wait(30), "the worker never came"
        started = tenant.job(job_id)["started_at"]
        kill_workers(stack, worker)
    website.release()
    audit_id = killed_audit(tenant, site, stack, deployed, aws)

    sweep_until(lambda: tenant.job(job_id)["attempts"], 3 * CRAWL_TIMEOUT, deployed, aws)
    job = tenant.finished(job_id, 60)
    assert (job["status"], job["attempts"]) == ("completed", 1)
    assert job["started_at"] == started
    assert len(tenant.search("stubborn mules")) == job["result"]["chunks"]

    sweep_until(lambda: tenant.read(f"/audits/{audit_id}")["finished_at"], 200, deployed, aws)
    audit = tenant.read(f"/audits/{audit_id}")
    assert (audit["status"], audit["attempts"]) == ("completed", 1), audit
    assert audit["result"]["pages"] == {"html": len(PATHS)}
    again = tenant("POST", "/audits", {"url": f"{site.url}/", "recipe": "hello"})
    assert tenant.audited(again.json()["audit_id"])["status"] == "completed", "the host isn't free"


def killed_audit(
    tenant: Tenant, site: AuditedSite, stack: Stack, deployed: Deployed, aws: Aws
) -> str:
    """Kill an audit's worker between two pages, and end its leases of the job and of the page."""
    answer = tenant("POST", "/audits", {"url": f"{site.url}/"})
    assert answer.status_code == 202, answer.text
    audit_id = str(answer.json()["audit_id"])
    waited(lambda: sum(path in PATHS for _, _, path in site.asked) >= 3, seconds=60)
    site.held.clear()
    time.sleep(0.5)
    kill_workers(stack, deployed.resources["AuditWorker"])
    site.held.set()
    end_leases(audit_id, tenant, deployed, aws)
    return audit_id


def end_leases(audit_id: str, tenant: Tenant, deployed: Deployed, aws: Aws) -> None:
    """End the leases of the audit's job, which lasts five minutes, and of its page."""
    dynamodb, frontier = aws.dynamodb(), deployed.outputs["FrontierTable"]
    now = {":now": to_iso(datetime.now(UTC))}
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=frontier,
        FilterExpression="contains(pk, :audit) AND attribute_exists(leased_until)",
        ExpressionAttributeValues={":audit": audit_id},
    )
    for row in pages.search("Items"):
        dynamodb.update_item(
            TableName=frontier,
            Key={"pk": row["pk"], "sk": row["sk"]},
            UpdateExpression="SET leased_until = :now",
            ExpressionAttributeValues=now,
        )
    dynamodb.update_item(
        TableName=deployed.outputs["JobsTable"],
        Key={"pk": f"T#{tenant.name}#JOB#{audit_id}", "sk": "JOB"},
        UpdateExpression="SET locked_until = :now, wake_at = :now",
        ExpressionAttributeValues=now,
    )


def test_a_message_that_can_not_be_read_harms_nobody(
    tenant: Tenant, website: Website, deployed: Deployed, aws: Aws
) -> None:
    queue = lane_url(deployed.outputs["LanesUrl"], CRAWL_HIGH)
    aws("sqs").send_message(QueueUrl=queue, MessageBody="not a job")
    url = f"{website.url}/page?text=after+the+storm"
    assert tenant.finished(tenant.crawl(url, priority="high"))["status"] == "completed"


def test_a_dead_letter_gets_another_chance(
    tenant: Tenant, website: Website, deployed: Deployed, aws: Aws
) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=second+delivery", priority="high")
    tenant.finished(job_id)
    sqs, dead = aws("sqs"), dead_letters_url(deployed.outputs["LanesUrl"], CRAWL_HIGH)
    body = json.dumps({"tenant": tenant.name, "job_id": job_id})
    sqs.send_message(QueueUrl=dead, MessageBody=body)
    answer = aws("lambda").invoke(FunctionName=deployed.resources["Redrive"], Payload=b"{}")
    assert json.load(answer["Payload"])["sent_back"] >= 1
    attributes = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["All"])["Attributes"]
    assert attributes["ApproximateNumberOfMessages"] == "0"
    assert tenant.job(job_id)["status"] == "completed"


def sweep_until(
    happened: Callable[[], object], seconds: float, deployed: Deployed, aws: Aws
) -> None:
    """Call the sweeper, as its rule does every minute, until something has happened."""

    def look() -> object:
        aws("lambda").invoke(FunctionName=deployed.resources["Sweeper"], Payload=b"{}")
        return happened()

    waited(look, seconds=seconds, pause=0.5)


@contextmanager
def time_out(aws: Aws, function: str, seconds: int) -> Iterator[None]:
    """Give the function's invocations this time-out; leases last only a little longer."""
    functions = aws("lambda")

    def change(timeout: int) -> None:
        functions.update_function_configuration(FunctionName=function, Timeout=timeout)
        functions.get_waiter("function_updated_v2").wait(
            FunctionName=function, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
        )

    before = functions.get_function_configuration(FunctionName=function)["Timeout"]
    change(seconds)
    try:
        yield
    finally:
        change(before)


def _main_process(stack: Stack, part: str) -> int:
    record = json.loads((stack.folder / "run.json").read_text())
    return int(record["parts"][part]["process"]["pid"])


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    waited(lambda: not Path(f"/proc/{pid}").exists() or _state(pid) == "Z", seconds=10)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def kill_workers(stack: Stack, function: str) -> None:
    """Kill the function's processes that belong to this instance."""
    killed = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            log = (process / "fd" / "1").readlink()
        except OSError:
            continue  # it has ended, or belongs to another user
        if log.is_relative_to(stack.folder) and log.parent.name.startswith(f"{function}-"):
            os.kill(int(process.name), signal.SIGKILL)
            killed += 1
    assert killed, "no worker to kill"
