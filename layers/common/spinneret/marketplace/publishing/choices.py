"""Choices that a marketplace offers for listings, such as policies, and the ones that are made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import (
    InputNeeded,
    MarketplaceUnavailable,
    MarketplaceUnsupported,
    ValidationFailed,
    field_error,
)
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.lookup import of_marketplace
from spinneret.marketplace.preferences.rules import nothing_to_choose
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.publishing.work import StepContext


@dataclass(frozen=True, kw_only=True)
class Option:
    """One policy, location, profile or section of the seller's account."""

    id: str
    title: str


Options = Mapping[str, Sequence[Option]]
"""Name of a choice → options of the account, in the order of the marketplace."""


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """The choices of a marketplace."""

    names: Mapping[str, str]
    """Name of each choice → what is chosen, in words."""
    read: Callable[[SellerApiClient, str | None], Options]
    """Function that reads what the account has now, on one site."""
    site_of: Callable[[ProductContent], str | None] = lambda _: None
    """Function that returns the site of a product, if the marketplace has several."""
    sites: Sequence[str] = ()
    """Sites of the marketplace, the default first; empty if it has only one."""


def ids_of(options: Options) -> dict[str, list[str]]:
    """Return the ids of all options, by the name of the choice."""
    return {name: [each.id for each in found] for name, found in options.items()}


def problems(
    choosing: Choosing, site: str | None, choices: Mapping[str, str], ids: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a field error for each choice that isn't among the account's `ids`, by name."""
    where = f" on {site}" if site else ""
    return [
        field_error(
            f"choices.{name}",
            f"the {choosing.names[name]} {chosen} isn't there{where}",
            "choose one that GET /api/marketplace/{marketplace}/choices lists, or none",
        )
        for name, chosen in choices.items()
        if chosen not in ids.get(name, ())
    ]


def require_choices(work: StepContext, choosing: Choosing) -> Mapping[str, str]:
    """Return the choices of the job's product. Raises InputNeeded if one is gone.

    The account is read at most once a minute, for a batch's other products.
    """
    content = work.subject.content
    if content is None or not content.choices:
        return {}
    site = choosing.site_of(content)
    place = f"choices {site}" if site else "choices"
    kept, now = work.calls.access.settings.get(place), work.clock()
    fresh = timedelta(seconds=limits.CHOICES_FRESH_SECONDS)
    if kept is None or parse_stamp(kept["checked_at"]) + fresh <= now:
        kept = {"ids": ids_of(choosing.read(work.calls, site)), "checked_at": to_iso(now)}
        work.calls.remember({place: kept})
    if fields := problems(choosing, site, content.choices, kept["ids"]):
        details = {"fields": fields, "checked_at": kept["checked_at"]}
        raise InputNeeded("; ".join(each["message"] for each in fields), details=details)
    return content.choices


@service
class ChoiceReader:
    """Reads what sellers may choose from, live."""

    choosing: Mapping[str, Choosing | None]
    """Choices by marketplace; None for one without any."""
    calls: Callable[[str, str], SellerApiClient]
    """(tenant, marketplace) → client for one request of ours."""

    def read(
        self, tenant: str, marketplace: str, site: str | None
    ) -> tuple[Choosing, Options, str | None]:
        """Return the choices of the account, and the site that they are of.

        Raises NotFound, MarketplaceUnsupported, ValidationFailed for an unknown site, and the
        exceptions of `SellerApiClient.send`, of which a wait becomes MarketplaceUnavailable.
        """
        choosing = of_marketplace(self.choosing, marketplace)
        if choosing is None:
            raise MarketplaceUnsupported(nothing_to_choose(marketplace))
        if site is not None and site not in choosing.sites:
            known = ", ".join(choosing.sites)
            reason = f"one of {known}" if known else f"left out: {marketplace} has none"
            raise ValidationFailed.about("site", f"must be {reason}")
        wanted = site or next(iter(choosing.sites), None)
        try:
            return choosing, choosing.read(self.calls(tenant, marketplace), wanted), wanted
        except (Defer, ReleaseJob) as waits:
            why = str(waits) or "the request has no time left"
            raise MarketplaceUnavailable(f"{marketplace}: {why}", retry_after=60) from waits
