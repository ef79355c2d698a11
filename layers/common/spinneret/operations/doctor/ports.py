"""Port of the examination. All methods raise DependencyUnavailable with the reason."""

from collections.abc import Sequence
from typing import Protocol

from spinneret.access.tokens.models import KeySet
from spinneret.operations.doctor.models import (
    IndexFacts,
    QueueFacts,
    QuotaFacts,
    Readiness,
    RuleFacts,
    StackFacts,
)


class StageFacts(Protocol):
    """Facts about one stage, read with the operator's credentials."""

    def stacks(self) -> Sequence[StackFacts]:
        """Return the root stack, then its nested stacks."""

    def queues(self) -> Sequence[QueueFacts]:
        """Return all queues of the stage."""

    def schedules(self) -> Sequence[RuleFacts]:
        """Return all scheduled rules of the stage."""

    def readiness(self) -> Readiness:
        """Return what the API reports about its dependencies."""

    def keys(self) -> KeySet:
        """Return the keys that sign access tokens."""

    def index(self) -> IndexFacts:
        """Return the state of the search index."""

    def quotas(self) -> QuotaFacts:
        """Return quotas of the account."""
