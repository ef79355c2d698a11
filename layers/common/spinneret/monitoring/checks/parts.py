"""Dependencies that all checks share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.ids import NewId
from spinneret.monitoring.checks import rules
from spinneret.monitoring.checks.asking import CheckFetcher
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.slots.ports import SlotStore
from spinneret.monitoring.targets.ports import Announce, TargetStore
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.windows.service import Maintenance
from spinneret.outbox.ports import RelayEvents
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.ports import Connector, Fetcher, RecordResolver
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.polite_visitor import PoliteVisitor

SLOT_MARGIN_SECONDS: Final = 2 * bounds.CLOCK_SKEW_SECONDS  # one clock may lag, another may lead


@dataclass(frozen=True, kw_only=True)
class CheckParts:
    """Dependencies that all checks share."""

    targets: TargetStore
    checks: CheckStore
    slots: SlotStore
    fetcher: Fetcher
    polite: Callable[[CheckFetcher], PoliteFetcher]
    """Function that wraps a check's own requests in a polite fetcher."""
    seal: RequestSeal
    visitor: PoliteVisitor
    connector: Connector
    records: RecordResolver
    policy: AddressPolicy
    """Rules for the addresses in answers of the DNS."""
    maintenance: Maintenance
    connectivity: Connectivity
    relay_events: RelayEvents
    announce: Announce
    """Function that sends a check which is due before the tick would send it."""
    clock: Clock
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    new_id: NewId
    timeout: float
    """Timeout of one try in seconds (HTTP_TIMEOUT)."""

    @property
    def slot_seconds(self) -> float:
        """Seconds for which a slot is acquired: the longest check plus a margin for clock skew."""
        longest = rules.longest_seconds(self.timeout) + self.timeout + bounds.REDIRECT_WAITS_SECONDS
        return longest + 2 * bounds.AWS_CALL_SECONDS + SLOT_MARGIN_SECONDS
