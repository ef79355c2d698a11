"""Rules of preferences."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from spinneret.kernel.errors import field_error
from spinneret.marketplace.preferences.models import Preferences

_LOOKS: Final = (timedelta(minutes=1), timedelta(hours=1))


def held_until(preferences: Preferences, now: datetime) -> datetime | None:
    """Return when a job that would list or revise looks again; None if the seller hasn't paused.

    The wait is once more as long as the pause has lasted, 1 to 60 minutes: a short pause ends soon,
    and a long one costs little.
    """
    if preferences.paused_at is None:
        return None
    shortest, longest = _LOOKS
    return now + min(max(now - preferences.paused_at, shortest), longest)


def price_by(preferences: Preferences, price: int) -> int:
    """Return a product's price by the seller's rules, all in minor units.

    The factor comes first, half a unit is rounded up; then the minimum; then the price is raised to
    the next one with the ending.
    """
    if preferences.price_factor is not None:
        raised = Decimal(price) * Decimal(preferences.price_factor)
        price = max(1, int(raised.quantize(Decimal(1), ROUND_HALF_UP)))
    price = max(price, preferences.minimum_price or 0)
    if preferences.price_ending is not None:
        price += (preferences.price_ending - price) % 100
    return price


def quantity_by(preferences: Preferences, quantity: int) -> int:
    """Return the pieces of a stock that are offered."""
    return max(0, quantity - (preferences.quantity_buffer or 0))


def title_by(preferences: Preferences, title: str) -> str:
    """Return a product's title with the seller's suffix."""
    return title if preferences.title_suffix is None else f"{title} {preferences.title_suffix}"


def unknown_choices(
    where: str, marketplace: str, given: Iterable[str], known: Collection[str]
) -> list[dict[str, Any]]:
    """Return the fields below `where` that name no choice of the marketplace, each with the
    reason."""
    reason = f"must be one of {', '.join(known)}" if known else nothing_to_choose(marketplace)
    return [field_error(f"{where}.{name}", reason) for name in given if name not in known]


def nothing_to_choose(marketplace: str) -> str:
    """Return the reason why a marketplace has no choices."""
    return f"{marketplace} has no policies, locations or profiles to choose from"
