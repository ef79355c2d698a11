"""When rows of tenancy become garbage: what DynamoDB deletes must have lost its meaning."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from spinneret.tenancy import items, rules
from tests import factories
from tests.fakes.time import START

DAY = timedelta(days=1)


def epoch(moment: datetime) -> int:
    return int(moment.timestamp())


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "purged_at"),
    [
        (None, None, None),
        (START + DAY, None, START + 31 * DAY),
        (None, START, START + 30 * DAY),
        (START + 9 * DAY, START, START + 30 * DAY),
    ],
    ids=["endless", "expires", "revoked", "revoked before it expires"],
)
def test_a_key_is_kept_for_30_days_after_its_end(
    expires_at: datetime | None, revoked_at: datetime | None, purged_at: datetime | None
) -> None:
    item = items.key_attributes(factories.api_key(expires_at=expires_at, revoked_at=revoked_at))
    assert item.get("purge_at") == (purged_at and epoch(purged_at))


def test_a_key_that_is_revoked_in_place_is_purged_as_one_that_was_so() -> None:
    key = factories.api_key(revoked_at=START, expires_at=START + 9 * DAY)
    assert items.revocation(START).items() <= items.key_attributes(key).items()


def test_a_ticket_is_purged_at_its_end() -> None:
    ticket = factories.stored_ticket()
    assert items.ticket_item(ticket)["purge_at"] == epoch(ticket.expires_at)


def test_a_window_is_kept_as_long_as_it_counts() -> None:
    window = rules.begun(None, 60, START + timedelta(seconds=59))
    assert items.window_attributes(window)["purge_at"] == epoch(START) + 120
