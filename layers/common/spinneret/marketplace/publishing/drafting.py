"""Drafts of marketplace jobs and batches, checked before anything is stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final

from spinneret.jobs.models import Draft, Priority
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import ValidationFailed, existing, field_error
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.kinds import PUBLISH, PUBLISH_BATCH
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.listings.rules import held_by
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.products.limits import PRODUCT_PRICE_MAX
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.products.rules import shown_on, variations_in
from spinneret.marketplace.publishing.actions import PRIORITIES, find_action
from spinneret.marketplace.publishing.commands import SCHEDULED, Command
from spinneret.marketplace.publishing.common import Check, require_fit
from spinneret.marketplace.publishing.models import ActionType

# Two of these for a product in the same state are the same work; other actions may be repeated.
_UNIQUE: Final = frozenset({"publish", "delete"})


@service
class Drafter:
    """Drafts jobs and batches. All methods raise DependencyUnavailable."""

    products: ProductStore
    listings: ListingStore
    preferences: PreferenceStore
    actions: Mapping[str, ActionType]
    checks: Mapping[str, Check]
    """Rules of each marketplace."""
    clock: Clock
    new_hex: Callable[[], str]

    def job(self, tenant: str, command: Command, priority: int | None) -> Draft:
        """Return the draft of a job. Raises ValidationFailed, also for a product that the
        marketplace's rules refuse to list, NotFound for an unknown product, and Conflict for a link
        to another product's listing."""
        action = find_action(self.actions, command.marketplace, command.action_code)
        _check_input(command.input_data)
        self._require_soon(command.publish_at)
        key = None
        if command.product_id is not None:
            product = existing(self.products.get(tenant, command.product_id), "product")
            preferences = self.preferences.get(tenant, command.marketplace)
            # A job that asks first is checked once the seller has answered.
            if command.action_code == "publish" and "question" not in command.input_data:
                content = shown_on(product, preferences, command.input_data)
                require_fit(self.checks[command.marketplace], content)
            if command.action_code in _UNIQUE:
                listing = self.listings.get(tenant, product.id, command.marketplace)
                generation = listing.generation if listing else 1
                state = [product.version, generation, listing.version if listing else 0]
                state += [preferences.version] if preferences.version else []
                key = fingerprint(["marketplace", command.payload, state])
            if command.action_code == "link_product":
                self._require_unheld(tenant, command)
        elif action.needs_product:
            raise ValidationFailed.of_field(
                "product_id", "is missing", error=f"{action.code} needs a product"
            )
        return _drafted(command, action, priority, key)

    def batch(
        self,
        tenant: str,
        marketplace: str,
        action_code: str,
        product_ids: Sequence[str],
        priority: int | None,
        publish_at: datetime | None,
    ) -> tuple[Draft, list[Draft]]:
        """Return the drafts of a batch and of its jobs. Raises ValidationFailed with every unknown
        product, and for an action without products."""
        self._require_soon(publish_at)
        action = find_action(self.actions, marketplace, action_code)
        if not action.needs_product:
            message = f"{action_code} isn't about products: submit one job"
            raise ValidationFailed.of_field("action_code", message)
        self._require_products(tenant, product_ids)
        # No duplicate keys, because a batch counts every product. The side-effect records prevent
        # a second listing of a product.
        command = Command(
            marketplace=marketplace,
            action_code=action_code,
            product_id=None,
            input_data={},
            publish_at=publish_at,
        )
        drafts = [
            _drafted(replace(command, product_id=product_id), action, priority, None)
            for product_id in dict.fromkeys(product_ids)
        ]
        parent = Draft(
            kind=PUBLISH_BATCH,
            payload={
                "marketplace": marketplace,
                "action_code": action_code,
                "total": len(drafts),
                **({} if publish_at is None else {"publish_at": to_iso(publish_at)}),
            },
            priority=priority_of(priority or action.priority),
            domain=marketplace,
            duplicate_key=None,
            due_at=publish_at,
            waiting_for=SCHEDULED if publish_at else None,
            id=batch_id(action_code, self.clock(), self.new_hex()),
        )
        return parent, drafts

    def _require_soon(self, publish_at: datetime | None) -> None:
        """Raise ValidationFailed for a time that isn't within the next PUBLISH_AHEAD_DAYS days."""
        now, days = self.clock(), limits.PUBLISH_AHEAD_DAYS
        if publish_at is not None and not now < publish_at <= now + timedelta(days=days):
            raise ValidationFailed.about("publish_at", f"must be within the next {days} days")

    def _require_unheld(self, tenant: str, command: Command) -> None:
        """Raise Conflict if another existing product has the listing to link."""
        external_id = command.input_data.get("external_id")
        if not isinstance(external_id, str) or not external_id:
            return
        holder = self.listings.holder(tenant, command.marketplace, external_id)
        if holder not in (None, command.product_id) and self.products.get(tenant, str(holder)):
            raise held_by(str(holder), command.marketplace, external_id)

    def _require_products(self, tenant: str, product_ids: Sequence[str]) -> None:
        """Raise ValidationFailed with every id that is no product's."""
        found: set[str] = set()
        for part in batched(dict.fromkeys(product_ids), bounds.LIST_LIMIT_MAX):
            found |= self.products.existing(tenant, part)
        wrong = [
            field_error(f"product_ids.{number}", "no such product")
            for number, product_id in enumerate(product_ids)
            if product_id not in found
        ]
        if wrong:
            raise ValidationFailed("some products don't exist", details={"fields": wrong})


def _drafted(command: Command, action: ActionType, priority: int | None, key: str | None) -> Draft:
    return Draft(
        kind=PUBLISH,
        payload={**command.payload, "max_retries": action.max_retries},
        priority=priority_of(priority or action.priority),
        domain=command.marketplace,
        duplicate_key=key,
        # Jobs of a batch are created at its time.
        due_at=command.publish_at,
        waiting_for=SCHEDULED if command.publish_at else None,
    )


def priority_of(number: int) -> Priority:
    """Return the priority of a number, from 1 (critical) to 4 (low)."""
    return Priority(PRIORITIES[number - 1])


def number_of(priority: Priority) -> int:
    """Return the number of a priority; the inverse of `priority_of`."""
    return PRIORITIES.index(priority.value) + 1


def batch_id(action_code: str, now: datetime, uuid: str) -> str:
    """Return a batch id: `{action}_{timestamp}_{uuid}`."""
    return f"{action_code}_{now.strftime('%Y%m%dT%H%M%S')}_{uuid}"


def _check_input(given: Mapping[str, Any]) -> None:
    """Check the overrides that every publication accepts. Raises ValidationFailed."""
    wrong = variations_in("input_data", given)
    price, most = given.get("override_price"), PRODUCT_PRICE_MAX
    if price is not None and (type(price) is not int or not 1 <= price <= most):
        wrong.append(field_error("input_data.override_price", f"minor units, 1 to {most}"))
    wrong += [
        field_error(f"input_data.{name}", "a text that isn't blank")
        for name in ("custom_title", "custom_description", "question")
        if (text := given.get(name)) is not None and not (isinstance(text, str) and text.strip())
    ]
    if wrong:
        raise ValidationFailed("input_data has invalid fields", details={"fields": wrong})
