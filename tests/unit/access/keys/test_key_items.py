"""Deletion of key items by DynamoDB: a deleted item must have lost its meaning."""

from datetime import datetime, timedelta

import pytest

from spinneret.access.keys import items, rules
from spinneret.access.keys.models import SlidingWindow
from spinneret.kernel import bounds
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
    item = items.KEYS.encode(factories.api_key(expires_at=expires_at, revoked_at=revoked_at))
    assert item.get("purge_at") == (purged_at and epoch(purged_at))


def test_a_key_that_is_revoked_in_place_is_purged_as_one_that_was_so() -> None:
    key = factories.api_key(revoked_at=START, expires_at=START + 9 * DAY)
    assert items.revocation(START).items() <= items.KEYS.encode(key).items()


def test_a_ticket_is_purged_at_its_end() -> None:
    ticket = factories.stored_ticket()
    assert items.TICKETS.encode(ticket)["purge_at"] == epoch(ticket.expires_at)


def test_a_window_is_kept_as_long_as_it_counts() -> None:
    window = rules.counted(rules.UNUSED, 60, START + timedelta(seconds=59.5))
    assert window is not None
    assert items.window_attributes(window)["purge_at"] == epoch(START) + 120


def full_window() -> SlidingWindow:
    """Return a window of the highest limit with as many slots as possible."""
    window = rules.UNUSED
    for second in range(200):
        for _ in range(bounds.KEY_REQUESTS_PER_MINUTE_MAX // 61):
            moment = START + timedelta(seconds=second, microseconds=999_999)
            window = rules.counted(window, bounds.KEY_REQUESTS_PER_MINUTE_MAX, moment) or window
    assert len(window.past) == 60
    return window


def test_a_window_comes_back_as_it_was_stored() -> None:
    for window in (rules.counted(rules.UNUSED, 1, START), full_window()):
        assert window is not None
        assert items.window_from_item(items.window_attributes(window)) == window


def test_the_largest_window_is_below_a_kilobyte() -> None:
    """The DynamoDB Developer Guide, "Item sizes", counts names, strings, a byte per two digits."""
    key = items.window_key("t" * 63, "key_01JGK4N5X2Q8W3E7R9T0Y6U1P4")
    item = {**key, **items.window_attributes(full_window())}
    assert sum(len(name) + size_of(value) for name, value in item.items()) <= 1024


def size_of(value: str | int) -> int:
    return len(value) if isinstance(value, str) else len(str(value)) // 2 + 2
