"""The backends that a port's suite runs against.

Unit tests use `fake`, `moto` emulates AWS in this process, and `stack` is a running instance of the
local stack. If a suite passes on all backends, the fake behaves like the real service. A moto call
takes 10 ms, so the quick test run skips moto for ports that have a fake.
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
"""Backends for ports that an AWS service implements."""
OF_REAL_AWS: Final = pytest.mark.parametrize("backend", [_MOTO, _STACK])
"""Backends for behaviour that a fake can't show."""
OF_OTHERS: Final = pytest.mark.parametrize("backend", ["fake", _STACK])
"""Backends without moto: for the index, the embedder, and tests that moto can't run."""
OF_OTHERS_AND_A_FUNCTION: Final = pytest.mark.parametrize(
    "backend", ["fake", _STACK, pytest.param("function", marks=pytest.mark.stack)]
)
"""Backends for the embedder, which can also be a Lambda function."""
PROMPT: Final = IndexShape(shards=1, replicas="0-1", refresh_interval="20ms")
"""Shape of an index that refreshes every 20 ms, so that many small writes wait only briefly."""


@dataclass(frozen=True)
class Tables:
    """A client that takes plain Python values, and the names of the tables by logical id."""

    client: Any
    names: dict[str, str]


def job_store(tables: Tables, clock: Clock = late) -> DynamoJobStore:
    """Return a job store on these tables."""
    names = tables.names
    tables_of_jobs = names["Jobs"], names["Idempotency"], names["Events"]
    return DynamoJobStore(tables.client, *tables_of_jobs, clock=clock)
