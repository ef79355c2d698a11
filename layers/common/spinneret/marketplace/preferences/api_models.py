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
ChoiceName = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
ChoiceId = Annotated[str, StringConstraints(pattern=r"^\S{1,60}$")]
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
    choices: dict[ChoiceName, ChoiceId | None] = {}
    """Ids of policies, location, profile or section, by the names that `GET …/choices` lists;
    omitted ones are kept, and null leaves the choice to the marketplace's order."""

    def changes(self) -> dict[str, Any]:
        """Return the changed fields of `Preferences`, without the pause and choices."""
        return self.model_dump(exclude_unset=True, exclude={"is_paused", "choices"})


class OptionView(View):
    """Something that the seller's account has to choose."""

    id: str
    """Id at the marketplace."""
    title: str
    """Name at the marketplace; the id if it has none."""


class ChoiceView(BaseModel):
    """A choice with what the account has for it."""

    name: str
    """Name of the choice in `choices` of preferences and overrides."""
    description: str
    """Description of the choice in words."""
    options: list[OptionView]
    """Options of the account, in the order of the marketplace."""


class ChoicesView(BaseModel):
    """Choices of a seller for listings on a marketplace."""

    marketplace: str
    site: str | None
    """Site of the marketplace that these belong to; null if it has only one."""
    items: list[ChoiceView]


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
    choices: dict[str, str]
    """Ids of what is chosen for all listings, by the name of the choice."""
