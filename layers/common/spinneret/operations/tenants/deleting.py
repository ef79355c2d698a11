"""Delete a tenant with all its data, in steps that may be repeated after a crash.

The tenant is stopped first: its credentials are refused, and its work waits. As soon as no request
and no job of it can still run, its authorizations at marketplaces are revoked. Then passes through
all places delete all that is the tenant's, until a pass is without a find. That pass is the
verification. The rows that stop the tenant are deleted last, so that no work begins meanwhile.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.access import limits as access_limits
from spinneret.access.tenants.models import Tenant
from spinneret.access.tenants.service import TenantService
from spinneret.kernel.clock import Clock, Remaining, to_iso
from spinneret.kernel.service import service
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.models import Answer, CommandProgress, Deletion
from spinneret.operations.tenants.ports import (
    DeletionStore,
    Place,
    RunningWork,
    SellerAuthorizations,
)

logger = logging.getLogger(__name__)

# A process may accept a cached user for this long, and then serve the request.
_KNOWN: Final = timedelta(seconds=access_limits.SESSION_CACHE_SECONDS + limits.REQUEST_SECONDS)


@service
class TenantDeletion:
    """Deletes tenants."""

    tenants: TenantService
    states: DeletionStore
    work: RunningWork
    sellers: SellerAuthorizations
    places: Sequence[Place]
    clock: Clock

    def run(self, name: str, remaining: Remaining) -> Answer:
        """Go on with the deletion until it ends or SLICE_MARGIN_SECONDS remain.

        Raises NotFound and DependencyUnavailable; the next call continues.
        """
        state = self.states.get(name)
        if state is None:
            # Not later: it writes marks, which the passes delete.
            until = self._waits_until(self.tenants.begin_deletion(name))
            if until is not None:
                text = f"waits until {to_iso(until)} for requests and jobs that began before"
                return Answer(progress=CommandProgress.WAITING, text=text)
            state = Deletion(connections=self.sellers.revoke_all(name))
            self.states.put(name, state)
        while remaining() > limits.SLICE_MARGIN_SECONDS:
            if state.place < len(self.places):
                state = self._step(name, state, remaining)
            elif state.found or state.unknown:
                former = state
                state = replace(state, number=state.number + 1, place=0, found=0, unknown=())
                if not former.found:
                    self.states.put(name, state)
                    return _unknown(former)
            else:
                return self._end(name, state)
            self.states.put(name, state)
        return Answer(progress=CommandProgress.WORKING, text=self._line(state))

    def _waits_until(self, tenant: Tenant) -> datetime | None:
        """Return the end of the time in which requests and jobs of the tenant may run, or None."""
        now, known_until = self.clock(), tenant.since + _KNOWN
        if now < known_until:
            return known_until
        return self.work.busy_until(tenant.name, now)

    def _step(self, name: str, state: Deletion, remaining: Remaining) -> Deletion:
        place = self.places[state.place]
        erased = place.erase(name, state.after, remaining)
        total = state.removed.get(place.name, 0) + erased.removed
        return replace(
            state,
            place=state.place + (erased.after is None),
            after=erased.after,
            found=state.found + erased.removed,
            removed={**state.removed, place.name: total} if total else state.removed,
            unknown=(*state.unknown, *erased.unknown)[: limits.UNKNOWN_SHOWN],
        )

    def _end(self, name: str, state: Deletion) -> Answer:
        answer = Answer(
            progress=CommandProgress.DONE,
            text=f"{name} is deleted; pass {state.number} found nothing of it",
            report={"removed": state.removed, "connections": state.connections},
        )
        logger.info("tenant_deleted", extra={"report": answer.report, "passes": state.number})
        self.states.forget(name)
        self.tenants.end_deletion(name)
        return answer

    def _line(self, state: Deletion) -> str:
        where = self.places[min(state.place, len(self.places) - 1)].name
        return f"pass {state.number}: {where}, {sum(state.removed.values())} removed so far"


def _unknown(state: Deletion) -> Answer:
    return Answer(
        progress=CommandProgress.REFUSED,
        text="keys of unknown form have the tenant's name: delete them by hand, and repeat",
        report=asdict(state),
    )
