"""Rows of keys and tickets in the form in which they have always been stored."""

from datetime import timedelta
from typing import Any

from spinneret.access.keys import items
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from tests import factories
from tests.contract.exact_rows import check_row
from tests.fakes.time import START
from tests.rows import each_row

DAY = timedelta(days=1)
KEY = {
    "pk": "T#acme#KEYS",
    "sk": "key_1",
    "id": "key_1",
    "tenant": "acme",
    "name": "test",
    "secret_hash": "0" * 64,
    "prefix": "spn_abcd",
    "scopes": ["write"],
    "rate_limit_rpm": 60,
    "created_at": "2026-01-02T12:00:00.000000Z",
}
ENDED_KEY = {
    **KEY,
    "scopes": ["admin", "read", "write"],
    "rate_limit_rpm": 7,
    "permissions": ["crawl", "search"],
    "expires_at": "2026-01-11T12:00:00.000000Z",
    "revoked_at": "2026-01-03T12:00:00.000000Z",
    "purge_at": 1770033600,
}
EXPIRING_KEY = {**KEY, "expires_at": "2026-01-03T12:00:00.000000Z", "purge_at": 1770033600}
TICKET = {
    "pk": f"KEY#{'1' * 64}",
    "sk": "TICKET",
    "tenant": "acme",
    "key_id": "key_1",
    "job_id": "job_1",
    "expires_at": "2026-01-02T12:01:00.000000Z",
    "purge_at": 1767355260,
}


@each_row(
    [
        ("a key", (items.KEYS, factories.api_key(), KEY)),
        (
            "a key that expires",
            (items.KEYS, factories.api_key(expires_at=START + DAY), EXPIRING_KEY),
        ),
        (
            "a key with everything",
            (
                items.KEYS,
                factories.api_key(
                    scopes=frozenset(Scope),
                    rate_limit_rpm=7,
                    permissions=frozenset({Permission.CRAWL, Permission.SEARCH}),
                    expires_at=START + 9 * DAY,
                    revoked_at=START + DAY,
                ),
                ENDED_KEY,
            ),
        ),
        ("a ticket", (items.TICKETS, factories.stored_ticket(), TICKET)),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)
