"""Evaluation of a stage's facts, and the report."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from spinneret.access import limits as access_limits
from spinneret.access.tokens.models import KeySet, SigningKey
from spinneret.kernel.errors import DependencyUnavailable
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
from spinneret.operations.doctor.service import Doctor, exit_code, table
from tests.fakes.time import START, HandClock

RUNBOOK = Path(__file__).resolve().parents[4] / "docs" / "runbook.md"
DAY = timedelta(days=1)
KEY = SigningKey(kid="kid_1", key_id="key", public_key="pem", active_from=START - DAY)
ROOT = StackFacts(
    name="spinneret",
    status="UPDATE_COMPLETE",
    drift="IN_SYNC",
    updated_at=START,
    resources=300,
    release="1.2.3",
)
LANE = QueueFacts(name="spinneret-local-crawl-normal", dead=False, waiting=0, in_flight=0)
DEAD = replace(LANE, name="spinneret-local-crawl-normal-dead", dead=True)
INDEX = IndexFacts(
    health="green", aliases=("chunks-model-3-read",), documents=100, chunks=900, rows=100
)

ACCOUNT = QuotaFacts(concurrency=1000, concurrency_used=800, api_rps=1e4)


@dataclass
class FakeStage:
    """Implements StageFacts; `down` names the methods that fail."""

    stack: Sequence[StackFacts] = (ROOT, replace(ROOT, name="spinneret-Core", resources=20))
    rules: Sequence[RuleFacts] = (
        RuleFacts(name="SweeperEveryMinute", enabled=True),
        RuleFacts(name="ReconcileDaily", enabled=True),
    )
    queue: Sequence[QueueFacts] = (LANE, DEAD)
    ready: Readiness = field(default_factory=lambda: {"dynamodb": "ok", "opensearch": "ok"})
    signing: KeySet = field(default_factory=lambda: KeySet(keys=(KEY,)))
    chunks: IndexFacts = INDEX
    account: QuotaFacts = ACCOUNT
    down: frozenset[str] = frozenset()

    def stacks(self) -> Sequence[StackFacts]:
        return self._read("stacks", self.stack)

    def schedules(self) -> Sequence[RuleFacts]:
        return self._read("schedules", self.rules)

    def queues(self) -> Sequence[QueueFacts]:
        return self._read("queues", self.queue)

    def readiness(self) -> Readiness:
        return self._read("readiness", self.ready)

    def keys(self) -> KeySet:
        return self._read("keys", self.signing)

    def index(self) -> IndexFacts:
        return self._read("index", self.chunks)

    def quotas(self) -> QuotaFacts:
        return self._read("quotas", self.account)

    def _read[T](self, name: str, value: T) -> T:
        if name in self.down:
            raise DependencyUnavailable(name, "answers AccessDenied")
        return value


def examined(**given: Any) -> list[Diagnosis]:
    return Doctor(facts=FakeStage(**given), clock=HandClock()).examine()


# covers P-13
def test_a_sound_stage_has_no_findings_but_good_ones() -> None:
    findings = examined()
    assert [each for each in findings if each.state is not State.OK or each.remedy] == []
    assert {each.part for each in findings} == {
        *("stacks", "version", "schedules", "queues", "dynamodb", "opensearch"),
        *("index", "drift of the index", "signing keys"),
        *("quota of resources", "quota of concurrency", "quota of the API"),
    }
    found = {each.part: each.found for each in findings}
    assert found["version"].startswith("release 1.2.3, deployed ")
    assert found["quota of concurrency"].endswith("at most 800 used in a day")
    assert exit_code(findings) == 0


# covers P-13
@pytest.mark.parametrize(
    ("given", "part", "state"),
    [
        (
            {"rules": [RuleFacts(name="SweeperEveryMinute", enabled=False)]},
            "schedule SweeperEveryMinute",
            State.FAULT,
        ),
        (
            {"rules": [RuleFacts(name="ReconcileDaily", enabled=None)]},
            "schedule ReconcileDaily",
            State.FAULT,
        ),
        (
            {"rules": [RuleFacts(name="ReconcileDaily", enabled=False)]},
            "schedule ReconcileDaily",
            State.WARNING,
        ),
        ({"queue": [replace(DEAD, waiting=1)]}, f"queue {DEAD.name}", State.FAULT),
        ({"queue": [replace(DEAD, in_flight=1)]}, f"queue {DEAD.name}", State.FAULT),
        ({"queue": [replace(LANE, waiting=9, age=3601.0)]}, f"queue {LANE.name}", State.WARNING),
        (
            {"queue": [replace(LANE, name="s-crawl-high", waiting=1, age=301.0)]},
            "queue s-crawl-high",
            State.WARNING,
        ),
        ({"ready": {"opensearch": "unavailable"}}, "opensearch", State.FAULT),
        ({"ready": {"embedder": "unavailable"}}, "embedder", State.FAULT),
        ({"chunks": replace(INDEX, health="yellow")}, "index", State.WARNING),
        ({"chunks": replace(INDEX, health="red")}, "index", State.FAULT),
        ({"chunks": replace(INDEX, aliases=(), documents=0)}, "index", State.FAULT),
        ({"chunks": replace(INDEX, documents=80)}, "drift of the index", State.WARNING),
        ({"signing": KeySet()}, "signing keys", State.WARNING),
        (
            {
                "signing": KeySet(
                    keys=(
                        replace(
                            KEY,
                            active_from=START
                            - 2 * DAY
                            - timedelta(seconds=access_limits.SIGNING_KEY_SECONDS),
                        ),
                    )
                )
            },
            "signing keys",
            State.FAULT,
        ),
        (
            {"stack": [replace(ROOT, status="UPDATE_ROLLBACK_COMPLETE")]},
            "stack spinneret",
            State.FAULT,
        ),
        ({"stack": [replace(ROOT, drift="DRIFTED")]}, "stack spinneret", State.WARNING),
        ({"stack": [replace(ROOT, resources=451)]}, "quota of resources", State.WARNING),
        (
            {"account": replace(ACCOUNT, concurrency=10, concurrency_used=None, api_rps=None)},
            "quota of concurrency",
            State.WARNING,
        ),
        (
            {"account": replace(ACCOUNT, concurrency_used=801)},
            "quota of concurrency",
            State.WARNING,
        ),
        ({"account": replace(ACCOUNT, api_rps=5.0)}, "quota of the API", State.WARNING),
    ],
)
def test_a_fault_is_named_with_its_remedy(given: Any, part: str, state: State) -> None:
    troubled = [each for each in examined(**given) if each.state is not State.OK]
    assert [(each.part, each.state) for each in troubled] == [(part, state)]
    [finding] = troubled
    assert finding.remedy
    assert exit_code(troubled) == {State.WARNING: 1, State.FAULT: 2}[state]
    section = finding.remedy.partition("docs/runbook.md#")[2].rstrip(")")
    headings = [line[3:].lower() for line in RUNBOOK.read_text().splitlines() if line[:3] == "## "]
    assert not section or section in headings


# covers P-13
@pytest.mark.parametrize(
    "given",
    [
        {"chunks": replace(INDEX, documents=96)},
        {"chunks": replace(INDEX, rows=None)},
        {"chunks": replace(INDEX, aliases=(), documents=0, chunks=0, rows=0)},
        {"queue": [replace(LANE, waiting=500, age=60.0)]},
        {"queue": [replace(LANE, waiting=500)]},
    ],
)
def test_what_is_usual_is_no_fault(given: Any) -> None:
    assert exit_code(examined(**given)) == 0


# covers P-13
def test_a_part_that_cannot_be_read_is_a_fault_and_hides_no_other() -> None:
    findings = examined(down=frozenset({"index", "readiness"}))
    faults = {each.part: each.found for each in findings if each.state is State.FAULT}
    assert faults.keys() == {"API", "index"}
    assert "AccessDenied" in faults["index"]
    assert "queues" in {each.part for each in findings}


def test_the_table_shows_faults_first() -> None:
    lines = table(
        [
            Diagnosis("queues", State.OK, "2 queues"),
            Diagnosis("index", State.FAULT, "red", "add nodes"),
        ]
    )
    assert lines == [
        "STATE  PART    FOUND     REMEDY",
        "fault  index   red       add nodes",
        "ok     queues  2 queues",
    ]
