"""Money, markup, the table of actions, and plans over tasks that are already done."""

from dataclasses import replace
from decimal import Decimal

import pytest

from spinneret.jobs.models import Failure, JobStatus
from spinneret.marketplace.markup import plain_text, safe_html
from spinneret.marketplace.money import CURRENCIES, decimal_text
from spinneret.marketplace.registry import ACTION_TYPES
from spinneret.marketplace.tasks import rules
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType, place_of
from tests.factories import job as new_job
from tests.fakes.time import START

TASK = Task(
    tenant="acme",
    job_id="job_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
    position=1,
    key="offer",
    task_type=TaskType.DIRECT_HTTP,
    description="Create offer",
    platform="ebay",
    product_id="prd_1",
    digest="a",
    created_at=START,
)


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (1999, "EUR", "19.99"),
        (5, "EUR", "0.05"),
        (1999, "JPY", "1999"),
        (1999, "TND", "1.999"),
        (100000000, "USD", "1000000.00"),
    ],
)
def test_amounts_are_exact(minor: int, currency: str, text: str) -> None:
    assert decimal_text(minor, currency) == text


def test_every_amount_can_be_read_back() -> None:
    for currency, digits in CURRENCIES.items():
        texts = [decimal_text(n, currency) for n in range(1, 3000)]
        assert [Decimal(text).scaleb(digits) for text in texts] == [*range(1, 3000)]


@pytest.mark.parametrize(
    ("text", "safe", "plain"),
    [
        ("a & b\nc", "a &amp; b<br>c", "a & b\nc"),
        ("<p onclick=x>a<script>b()</script></p>", "<p>a</p>", "a"),
        ("<a href=javascript:x>y</a>", "y", "y"),
        ("<b>bold<i>both</b>", "<b>bold<i>both</i></b>", "boldboth"),
        ("<ul><li>1<li>2</ul>", "<ul><li>1<li>2</li></li></ul>", "1\n2"),
        ("&lt;script&gt;<br>", "&lt;script&gt;<br>", ""),
        ("x<br>&lt;script&gt;b()&lt;/script&gt;", "x<br>&lt;script&gt;b()&lt;/script&gt;", "x"),
        ("<p>&amp;lt;b&amp;gt;</p>", "<p>&amp;lt;b&amp;gt;</p>", "&lt;b&gt;"),
        ("<p>1 &lt; 2</p>", "<p>1 &lt; 2</p>", "1 < 2"),
    ],
)
def test_descriptions_lose_what_acts(text: str, safe: str, plain: str) -> None:
    assert safe_html(text) == safe
    assert plain_text(text) == plain


# covers B-03
def test_action_types_have_the_sources_defaults() -> None:
    found = {
        code: (ACTION_TYPES[f"{code}_ebay"].priority, ACTION_TYPES[f"{code}_ebay"].max_retries)
        for code in ("publish", "update", "delete", "sync")
    }
    assert found == {"publish": (3, 3), "update": (3, 3), "delete": (2, 1), "sync": (4, 3)}


# covers B-03
def test_every_action_of_every_marketplace_has_a_handler_or_a_reason() -> None:
    missing = {code for code, each in ACTION_TYPES.items() if not each.supported}
    assert missing == {"import_vinted", "message_etsy", "message_vinted", "orders_vinted"}


def test_a_tasks_id_names_its_place() -> None:
    assert place_of(TASK.id) == (TASK.job_id, 1)
    assert place_of("task_1-001") is None


@pytest.mark.parametrize(
    ("status", "digest", "kept", "reason"),
    [
        (TaskStatus.SUCCESS, "a", True, None),
        (TaskStatus.SUCCESS, "b", False, None),
        (TaskStatus.FAILED, "a", False, None),
        (TaskStatus.PROCESSING, "a", False, Reason.RECONCILING),
        (TaskStatus.TIMEOUT, "a", False, Reason.RECONCILING),
    ],
)
def test_a_success_stands_while_its_digest_does(
    status: TaskStatus, digest: str, kept: bool, reason: Reason | None
) -> None:
    former = replace(TASK, status=status, digest=digest, retry_count=2)
    [task] = rules.merged([TASK], [former])
    assert (task.status is TaskStatus.SUCCESS) == kept
    assert (task.reason, task.retry_count) == (reason, 2)


# covers B-05
@pytest.mark.parametrize(
    ("job", "tasks", "shown"),
    [
        ("cancelled", ["pending"], ["cancelled"]),
        ("expired", ["success", "processing"], ["success", "cancelled"]),
        ("cancelled", ["success"], ["success"]),
        ("running", ["pending"], ["pending"]),
        ("failed", ["success", "processing", "pending"], ["success", "failed", "cancelled"]),
        ("failed", ["success", "pending", "pending"], ["success", "failed", "cancelled"]),
        ("failed", ["success", "timeout", "pending"], ["success", "timeout", "cancelled"]),
        ("failed", ["failed", "pending"], ["failed", "cancelled"]),
    ],
)
def test_an_ended_job_has_no_task_that_waits(job: str, tasks: list[str], shown: list[str]) -> None:
    failure = Failure(code="WORK_LIMIT", message="too long", type="permanent", details={})
    ended = replace(new_job(status=JobStatus(job)), last_error=failure)
    given = [
        replace(TASK, position=number, status=TaskStatus(status))
        for number, status in enumerate(tasks, start=1)
    ]
    found = rules.as_of(ended, given)
    assert [task.status for task in found] == shown
    changed = [task for task, former in zip(found, given, strict=True) if task != former]
    said = {task.error_message for task in changed if task.status is TaskStatus.FAILED}
    assert said <= {"too long"}
