"""Requests and responses of preferences."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from spinneret.kernel.views import Timestamp, View
from spinneret.marketplace.products import limits


def _above_zero(text: str) -> str:
    if not Decimal(text):
        raise ValueError("must be above 0")
    return text


Factor = Annotated[
    str, StringConstraints(pattern=r"^[0-9]{1,2}(\.[0-9]{1,4})?$"), AfterValidator(_above_zero)
]
Minimum = Annotated[int, Field(ge=1, le=limits.PRODUCT_PRICE_MAX)]
Ending = Annotated[int, Field(ge=0, le=99)]
Buffer = Annotated[int, Field(ge=0, le=limits.PRODUCT_QUANTITY_MAX)]
Suffix = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class PreferencesChange(BaseModel):
    """Changed preferences; omitted ones are kept, and null removes a rule.

    Rules change the values of the product, but no price or title that its override or the job gives
    for the marketplace.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    is_paused: bool | None = None
    """Whether jobs that list or revise wait; null keeps the present state."""
    price_factor: Factor | None = None
    """Decimal by which the price is multiplied, such as `1.15`; half a minor unit is rounded up."""
    minimum_price: Minimum | None = None
    """Lowest price in minor units, such as cents."""
    price_ending: Ending | None = None
    """Last two digits of the price in minor units: with 99 it is raised to the next x.99."""
    quantity_buffer: Buffer | None = None
    """Pieces of the stock that aren't offered."""
    title_suffix: Suffix | None = None
    """Text after the title, with a blank between."""

    def changes(self) -> dict[str, Any]:
        """Return the changed fields of `Preferences`, without the pause."""
        return self.model_dump(exclude_unset=True, exclude={"is_paused"})


class PreferencesView(View):
    """A seller's preferences for one marketplace."""

    marketplace: str
    paused_at: Timestamp | None
    """Time since which jobs that list or revise wait (RFC 3339, UTC); null if they don't. Orders
    are still read, and what was sold elsewhere is still taken from the listings."""
    price_factor: str | None
    """Decimal by which prices are multiplied."""
    minimum_price: int | None
    """Lowest price in minor units."""
    price_ending: int | None
    """Last two digits of prices in minor units."""
    quantity_buffer: int | None
    """Pieces of each stock that aren't offered."""
    title_suffix: str | None
    """Text after each title."""
