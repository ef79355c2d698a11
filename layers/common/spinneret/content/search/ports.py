"""What search needs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from spinneret.content.documents.ports import ChunkWriter
from spinneret.content.search.models import Candidate, Leg
from spinneret.kernel.clock import Remaining


class ChunkIndex(ChunkWriter, Protocol):
    """The index of chunks of one embedding model, to be searched too."""

    def search(
        self,
        tenant: str,
        text: str,
        vector: Sequence[float] | None,
        window: int,
        remaining: Remaining,
    ) -> Mapping[Leg, Sequence[Candidate]]:
        """The best `window` chunks of each leg, best first, in one round trip.

        Without a vector there is the keyword leg alone.
        """
        ...
