"""Judgement of facts; pure. Each remedy names its section of docs/runbook.md."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits as access_limits
from spinneret.access.tokens.models import KeySet
from spinneret.operations.doctor import limits
from spinneret.operations.doctor.models import (
    Diagnosis,
    IndexFacts,
    QueueFacts,
    QuotaFacts,
    Readiness,
    RuleFacts,
    StackFacts,
    State,
)

_SWEEPER: Final = "Sweeper"
_SECTIONS: Final = {
    "opensearch": "IndexStatus",
    "embedder": "EmbedderErrors",
    "dynamodb": "Throttles",
    "sqs": "ServerErrors",
    "s3": "ServerErrors",
}
"""Dependency → section."""
_REBUILD: Final = "rebuild the index: make rebuild-index, or invoke RebuildIndex"


def stacks(found: Sequence[StackFacts]) -> list[Diagnosis]:
    """Judge the root stack, which comes first, and its nested stacks."""
    findings = []
    for each in found:
        if not each.status.endswith("_COMPLETE") or "ROLLBACK" in each.status:
            remedy = "read the stack's events, then deploy again"
            findings.append(Diagnosis(f"stack {each.name}", State.FAULT, each.status, remedy))
        if each.drift == "DRIFTED":
            remedy = "aws cloudformation describe-stack-resource-drifts, then deploy again"
            findings.append(Diagnosis(f"stack {each.name}", State.WARNING, "drifted", remedy))
    if not findings:
        total = sum(each.resources for each in found)
        findings.append(Diagnosis("stacks", State.OK, f"{len(found)} stacks, {total} resources"))
    root = found[0]
    changed = max(each.updated_at for each in found)
    version = f"release {root.release or 'unknown'}, deployed {changed:%Y-%m-%d %H:%M} UTC"
    findings.append(Diagnosis("version", State.OK, version))
    used = f"{root.resources} of {limits.RESOURCES_MAX} resources of the root stack"
    full = root.resources > limits.RESOURCES_SHARE * limits.RESOURCES_MAX
    remedy = "move resources into a nested stack" if full else ""
    state = State.WARNING if full else State.OK
    return [*findings, Diagnosis("quota of resources", state, used, remedy)]


def queues(found: Sequence[QueueFacts]) -> list[Diagnosis]:
    """Judge lanes and dead-letter queues."""
    findings = [_queue(each) for each in found]
    troubled = [each for each in findings if each.state is not State.OK]
    waiting = sum(each.waiting for each in found)
    if troubled:
        return troubled
    return [Diagnosis("queues", State.OK, f"{len(found)} queues, {waiting} messages wait")]


def schedules(found: Sequence[RuleFacts]) -> list[Diagnosis]:
    """Judge scheduled rules; nothing replaces the sweeper's."""
    findings = []
    for each in found:
        if each.enabled:
            continue
        lost = each.enabled is None
        state = State.FAULT if lost or each.name.startswith(_SWEEPER) else State.WARNING
        remedy = "deploy again" if lost else "aws events enable-rule"
        section = _section("SweeperSilent") if each.name.startswith(_SWEEPER) else ""
        text = "doesn't exist" if lost else "disabled"
        findings.append(Diagnosis(f"schedule {each.name}", state, text, f"{remedy}{section}"))
    return findings or [Diagnosis("schedules", State.OK, f"{len(found)} rules, all enabled")]


def readiness(found: Readiness) -> list[Diagnosis]:
    """Judge the dependencies that the API reports."""
    return [
        Diagnosis(name, State.OK, "answers")
        if state == "ok"
        else Diagnosis(
            name,
            State.FAULT,
            "unavailable",
            f"look at its health and its log{_section(_SECTIONS.get(name, 'ServerErrors'))}",
        )
        for name, state in found.items()
    ]


def keys(found: KeySet, now: datetime) -> list[Diagnosis]:
    """Judge the keys that sign access tokens."""
    part = "signing keys"
    if not found.keys:
        return [
            Diagnosis(part, State.WARNING, "none yet: nobody can sign in", "invoke SigningKeys")
        ]
    age = now - found.keys[-1].active_from
    text = f"{len(found.keys)} keys, the youngest is {max(0, age.days)} days old"
    bound = timedelta(seconds=access_limits.SIGNING_KEY_SECONDS + limits.KEY_SPARE_SECONDS)
    if age > bound:
        remedy = f"read the log of SigningKeys, invoke it{_section('AccessDenied')}"
        return [Diagnosis(part, State.FAULT, text, remedy)]
    return [Diagnosis(part, State.OK, text)]


def index(found: IndexFacts) -> list[Diagnosis]:
    """Judge the health of the search index, and how far it is from its rows."""
    findings = []
    if found.health != "green":
        state = State.FAULT if found.health == "red" else State.WARNING
        remedy = f"wait for its shards, or add nodes{_section('IndexStatus')}"
        findings.append(Diagnosis("index", state, found.health, remedy))
    if not found.aliases:
        state = State.FAULT if found.rows else State.OK
        remedy = f"{_REBUILD}{_section('IndexStatus')}" if found.rows else ""
        return [*findings, Diagnosis("index", state, f"no index, {found.rows} documents", remedy)]
    text = f"{found.documents} documents, {found.chunks} chunks, {', '.join(found.aliases)}"
    findings.append(Diagnosis("index", State.OK, text))
    if found.rows is None:
        text = "too many documents to count; the daily reconciliation repairs differences"
        return [*findings, Diagnosis("drift of the index", State.OK, text)]
    missing = found.rows - found.documents
    drifted = abs(missing) > max(1.0, limits.DRIFT_SHARE * found.rows)
    text = f"{found.rows} documents in the table, {found.documents} in the index"
    state = State.WARNING if drifted else State.OK
    remedy = "invoke Reconcile; if documents are missing afterwards, " + _REBUILD
    return [*findings, Diagnosis("drift of the index", state, text, remedy if drifted else "")]


def quotas(found: QuotaFacts) -> list[Diagnosis]:
    """Judge the quotas of the account."""
    used = found.concurrency_used
    few = found.concurrency < limits.CONCURRENCY_MIN or (
        used is not None and used > limits.CONCURRENCY_SHARE * found.concurrency
    )
    text = f"{found.concurrency} concurrent executions"
    section = _section("Throttles")
    findings = [
        Diagnosis(
            "quota of concurrency",
            State.WARNING if few else State.OK,
            text if used is None else f"{text}, at most {used} used in a day",
            f"request quota L-B99A9384{section}" if few else "",
        )
    ]
    if found.api_rps is not None:
        slow = found.api_rps < limits.API_RPS_MIN
        findings.append(
            Diagnosis(
                "quota of the API",
                State.WARNING if slow else State.OK,
                f"{found.api_rps:g} requests a second",
                f"request quota L-8A5B8E43{section}" if slow else "",
            )
        )
    return findings


def _queue(queue: QueueFacts) -> Diagnosis:
    part, messages = f"queue {queue.name}", queue.waiting + queue.in_flight
    if queue.dead and messages:
        remedy = f"mend the fault; the redrive sends them back{_section('DeadLetters')}"
        return Diagnosis(part, State.FAULT, f"{messages} dead letters", remedy)
    priority = queue.name.rpartition("-")[2]
    names = {"high": "UrgentLanes", "low": "LowLanes"}
    urgent = queue.name.endswith(("-high", "-checks"))
    kind = "high" if urgent else priority if priority == "low" else "normal"
    if queue.age is not None and queue.age > limits.AGES_SECONDS[kind]:
        text = f"{messages} messages, the oldest for {queue.age:.0f} s"
        remedy = f"look at its workers{_section(names.get(kind, 'NormalLanes'))}"
        return Diagnosis(part, State.WARNING, text, remedy)
    return Diagnosis(part, State.OK, f"{messages} messages")


def _section(name: str) -> str:
    return f" (docs/runbook.md#{name.lower()})"
