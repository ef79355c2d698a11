"""Domain events of a check."""

from collections.abc import Sequence
from datetime import datetime

from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.targets.models import Target
from spinneret.outbox.models import DomainEvent


def domain_events(target: Target, step: StateChange, at: datetime) -> Sequence[DomainEvent]:
    """Build the domain events of a step."""
    return [
        DomainEvent(
            tenant=target.tenant,
            type=report.type,
            subject=target.id,
            sequence=step.event_sequence,
            occurred_at=at,
            data=report.data,
        )
        for report in step.reports
    ]
