"""Rows of targets, incidents, maintenance windows and status pages, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.monitoring.incidents.dynamo import incident_write
from spinneret.monitoring.incidents.items import INCIDENTS
from spinneret.monitoring.incidents.models import (
    Incident,
    IncidentChange,
    IncidentStatus,
    TimelineEntry,
)
from spinneret.monitoring.notices.dynamo import NOTICES
from spinneret.monitoring.notices.models import (
    Notice,
    NoticeKind,
    NoticeStatus,
    NoticeUpdate,
)
from spinneret.monitoring.status_page.dynamo import STATUS_PAGES
from spinneret.monitoring.status_page.models import StatusGroup, StatusPage
from spinneret.monitoring.targets.items import RECORDS, TARGETS
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Kind,
    Method,
    Options,
    QuietHours,
    RecordType,
    SealedRequest,
    Target,
)
from spinneret.monitoring.windows.dynamo import WINDOWS
from spinneret.monitoring.windows.models import MaintenanceWindow
from tests.contract.exact_rows import Functions, check_read, check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

TARGET: Final = Target(
    tenant="acme",
    id="target_1",
    url="https://ä.example",
    canonical_url="https://xn--4ca.example/",
    host="xn--4ca.example",
    created_at=NOW,
    updated_at=LATER,
    options=Options(),
)
PUBLIC: Final = replace(
    TARGET,
    options=Options(
        name="Ä",
        interval_seconds=60,
        method=Method.HEAD,
        failure_threshold=2,
        recovery_threshold=3,
        degraded_ms=900,
        conditions=("status == 200",),
        certificate_days=(7, 1),
        watch_content=True,
        public=True,
        retry_seconds=60,
        reminder_minutes=90,
        quiet_hours=QuietHours(start="22:00", end="07:00", timezone="UTC"),
        request=SealedRequest(
            sealed="c2VhbGVk", header_names=("X-Key",), has_body=True, has_credentials=True
        ),
        expected=("v",),
        grace_seconds=60,
    ),
    kind=Kind.DNS,
    port=22,
    record_type=RecordType.TXT,
    call_hash="h",
    paused=True,
    version=4,
)
RECORD: Final = IdempotencyRecord(
    tenant="acme",
    scope="s",
    payload="p",
    status=201,
    target_id="target_1",
    body='{"id":"target_1"}',
    created_at=NOW,
)


def _written(incident: Incident) -> dict[str, Any]:
    """Return the row that a check writes for a new incident."""
    change = IncidentChange(
        id=incident.id,
        started_at=incident.started_at,
        status=incident.status,
        ended_at=None,
        entry=incident.timeline[0] if incident.timeline else None,
    )
    update = incident_write("T", "acme", "target_1", change)["Update"]
    given = {name[1:]: each for name, each in update["ExpressionAttributeValues"].items()}
    assert given.pop("none") == []
    return {**update["Key"], "timeline": given.pop("entries"), **given}


OPENED: Final = Functions(_written, INCIDENTS.decode)
BEGIN: Final = TimelineEntry(at=LATER, status=IncidentStatus.DOWN, message="ö")
DOWN: Final = Incident(
    id="incident_1", started_at=NOW, ended_at=None, status=IncidentStatus.DOWN, timeline=(BEGIN,)
)

ONCE: Final = MaintenanceWindow(
    tenant="acme",
    id="window_1",
    name="Ä",
    starts_at=datetime(2026, 1, 2, 3, 4),  # noqa: DTZ001 - wall-clock time
    duration_minutes=60,
    timezone="Europe/Berlin",
    recurrence=None,
    target_ids=(),
    created_at=NOW,
    updated_at=LATER,
)
DAILY: Final = replace(
    ONCE, recurrence="FREQ=DAILY", target_ids=("target_1", "target_2"), version=3
)
PAGE: Final = StatusPage(tenant="acme", slug="s", title="Ä", updated_at=NOW, version=3)
FURTHER: Final = replace(
    PAGE, is_main=False, groups=(StatusGroup(name="Ä", target_ids=("target_1",)),)
)
NOTICE: Final = Notice(
    tenant="acme",
    id="notice_1",
    kind=NoticeKind.MAINTENANCE,
    title="Ä",
    slugs=("s",),
    starts_at=NOW,
    ends_at=LATER,
    updates=(NoticeUpdate(at=NOW, status=NoticeStatus.IN_PROGRESS, text="ö"),),
)


@each_row(
    [
        (
            "a target",
            (
                TARGETS,
                TARGET,
                {
                    "pk": "T#acme#TARGET#target_1",
                    "sk": "TARGET",
                    "url": "https://ä.example",
                    "canonical_url": "https://xn--4ca.example/",
                    "host": "xn--4ca.example",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T04:04:05.000000Z",
                    "options": (
                        '{"name":null,"interval_seconds":15,"method":"GET","failure_t'
                        'hreshold":3,"recovery_threshold":2,"degraded_ms":null,"condi'
                        'tions":[],"certificate_days":[21,14,7],"watch_content":false'
                        ',"public":false,"retry_seconds":null,"reminder_minutes":null'
                        ',"quiet_hours":null,"request":null,"expected":[],"grace_seconds":0}'
                    ),
                    "kind": "http",
                    "paused": False,
                    "version": 1,
                },
            ),
        ),
        (
            "a public target",
            (
                TARGETS,
                PUBLIC,
                {
                    "pk": "T#acme#TARGET#target_1",
                    "sk": "TARGET",
                    "url": "https://ä.example",
                    "canonical_url": "https://xn--4ca.example/",
                    "host": "xn--4ca.example",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "updated_at": "2026-01-02T04:04:05.000000Z",
                    "options": (
                        '{"name":"Ä","interval_seconds":60,"method":"HEAD","failure_t'
                        'hreshold":2,"recovery_threshold":3,"degraded_ms":900,"condit'
                        'ions":["status == 200"],"certificate_days":[7,1],"watch_cont'
                        'ent":true,"public":true,"retry_seconds":60,"reminder_minutes":90'
                        ',"quiet_hours":{"start":"22:00","end":"07:00","timezone":"UTC"}'
                        ',"request":{"sealed":"c2VhbGVk","header_names":["X-Key"],"has_body":true'
                        ',"has_credentials":true},"expected":["v"],"grace_seconds":60}'
                    ),
                    "kind": "dns",
                    "port": 22,
                    "record_type": "TXT",
                    "call_hash": "h",
                    "paused": True,
                    "version": 4,
                },
            ),
        ),
        (
            "an answer to a key",
            (
                RECORDS,
                RECORD,
                {
                    "pk": "T#acme#KEY#s",
                    "sk": "KEY",
                    "payload": "p",
                    "status": 201,
                    "target_id": "target_1",
                    "body": '{"id":"target_1"}',
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "purge_at": 1767409445,
                },
            ),
        ),
        (
            "a new incident",
            (
                OPENED,
                DOWN,
                {
                    "pk": "T#acme#INCIDENTS#target_1",
                    "sk": "2026-01-02T03:04:05.678901Z#incident_1",
                    "id": "incident_1",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "status": "down",
                    "timeline": ['{"at":"2026-01-02T04:04:05Z","status":"down","message":"ö"}'],
                },
            ),
        ),
        (
            "a new incident without an entry",
            (
                OPENED,
                replace(DOWN, timeline=()),
                {
                    "pk": "T#acme#INCIDENTS#target_1",
                    "sk": "2026-01-02T03:04:05.678901Z#incident_1",
                    "id": "incident_1",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "status": "down",
                    "timeline": [],
                },
            ),
        ),
        (
            "a single window",
            (
                WINDOWS,
                ONCE,
                {
                    "pk": "T#acme#WINDOWS",
                    "sk": "window_1",
                    "version": 1,
                    "window": (
                        '{"tenant":"acme","id":"window_1","name":"Ä","starts_at":"202'
                        '6-01-02T03:04:00","duration_minutes":60,"timezone":"Europe/B'
                        'erlin","recurrence":null,"target_ids":[],"created_at":"2026-'
                        '01-02T03:04:05.678901Z","updated_at":"2026-01-02T04:04:05Z",'
                        '"version":1}'
                    ),
                },
            ),
        ),
        (
            "a daily window",
            (
                WINDOWS,
                DAILY,
                {
                    "pk": "T#acme#WINDOWS",
                    "sk": "window_1",
                    "version": 3,
                    "window": (
                        '{"tenant":"acme","id":"window_1","name":"Ä","starts_at":"202'
                        '6-01-02T03:04:00","duration_minutes":60,"timezone":"Europe/B'
                        'erlin","recurrence":"FREQ=DAILY","target_ids":["target_1","t'
                        'arget_2"],"created_at":"2026-01-02T03:04:05.678901Z","update'
                        'd_at":"2026-01-02T04:04:05Z","version":3}'
                    ),
                },
            ),
        ),
        (
            "a status page",
            (
                STATUS_PAGES,
                PAGE,
                {
                    "pk": "T#acme#PAGE",
                    "sk": "PAGE",
                    "slug": "s",
                    "title": "Ä",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "version": 3,
                },
            ),
        ),
        (
            "another status page",
            (
                STATUS_PAGES,
                FURTHER,
                {
                    "pk": "T#acme#PAGE",
                    "sk": "PAGE#s",
                    "slug": "s",
                    "title": "Ä",
                    "updated_at": "2026-01-02T03:04:05.678901Z",
                    "groups": '[{"name":"Ä","target_ids":["target_1"]}]',
                    "version": 3,
                },
            ),
        ),
        (
            "a notice",
            (
                NOTICES,
                NOTICE,
                {
                    "pk": "T#acme#NOTICES",
                    "sk": "notice_1",
                    "kind": "maintenance",
                    "title": "Ä",
                    "slugs": ["s"],
                    "starts_at": "2026-01-02T03:04:05.678901Z",
                    "ends_at": "2026-01-02T04:04:05.000000Z",
                    "updates": (
                        '[{"at":"2026-01-02T03:04:05.678901Z","status":"in_progress","text":"ö"}]'
                    ),
                    "version": 1,
                    "purge_at": 1801886645,
                },
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


@each_row(
    [
        (
            "an incident that has ended",
            (
                OPENED,
                replace(
                    DOWN,
                    ended_at=LATER,
                    status=IncidentStatus.UP,
                    timeline=(BEGIN, replace(BEGIN, status=IncidentStatus.UP)),
                ),
                {
                    "pk": "T#acme#INCIDENTS#target_1",
                    "sk": "2026-01-02T03:04:05.678901Z#incident_1",
                    "id": "incident_1",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "status": "up",
                    "timeline": [
                        '{"at":"2026-01-02T04:04:05Z","status":"down","message":"ö"}',
                        '{"at":"2026-01-02T04:04:05Z","status":"up","message":"ö"}',
                    ],
                    "purge_at": 1801886645,
                    "ended_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
    ]
)
def test_incidents_are_read_after_updates(row: Any) -> None:
    check_read(*row)
