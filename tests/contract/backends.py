"""The backends that a port's suite runs against.

`fake` is what unit tests use, `moto` emulates AWS in this process, `stack` is a running instance.
A suite that passes on all of them says that the fake may be trusted. A call of moto takes ten
milliseconds: where there is a fake, the quick loop leaves moto out.
"""

from dataclasses import dataclass
from typing import Any, Final

import pytest

from spinneret.content.search.opensearch_mapping import IndexShape
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.kernel.clock import Clock
from tests.fakes.time import late

_STACK: Final = pytest.param("stack", marks=pytest.mark.stack)

_MOTO: Final = pytest.param("moto", marks=[pytest.mark.heavy, pytest.mark.moto])

OF_AWS: Final = pytest.mark.parametrize("backend", ["fake", _MOTO, _STACK])
"""For ports whose real side is a service of AWS."""
OF_REAL_AWS: Final = pytest.mark.parametrize("backend", [_MOTO, _STACK])
"""For what only AWS can show."""
OF_OTHERS: Final = pytest.mark.parametrize("backend", ["fake", _STACK])
"""For ports whose real side is the index or the embedder."""
OF_OTHERS_AND_A_FUNCTION: Final = pytest.mark.parametrize(
    "backend", ["fake", _STACK, pytest.param("function", marks=pytest.mark.stack)]
)
"""For the embedder, which may be a function too."""
PROMPT: Final = IndexShape(shards=1, replicas="0-1", refresh_interval="20ms")
"""Of an index whose many small writes wait hardly."""


@dataclass(frozen=True)
class Tables:
    """A client of plain Python values and the tables of the template by logical id."""

    client: Any
    names: dict[str, str]


def job_store(tables: Tables, clock: Clock = late) -> DynamoJobStore:
    """The job store on these tables."""
    names = tables.names
    tables_of_jobs = names["Jobs"], names["Idempotency"], names["Events"]
    return DynamoJobStore(tables.client, *tables_of_jobs, clock=clock)
