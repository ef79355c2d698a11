"""What every job store asks of a row before it takes a write under a lease."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.kernel.errors import LeaseLost
from tests import factories
from tests.contract.backends import OF_AWS
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, submitted
from tests.fakes.time import START

pytestmark = OF_AWS


@pytest.mark.parametrize("status", [each for each in JobStatus if each is not JobStatus.RUNNING])
def test_a_job_that_is_not_running_takes_no_write(
    store: JobStore, tenant: str, status: JobStatus
) -> None:
    """Even where the row still names the owner and the fence."""
    row = submitted(store, tenant, status=status, fence=1, locked_by="one", locked_until=UNTIL)
    before = replace(row, status=JobStatus.RUNNING)
    done = rules.complete(before, {}, START + SECOND)
    with pytest.raises(LeaseLost):
        store.transition(before, done, lease=factories.lease(row))
    assert store.get(row.ref) == row


@pytest.mark.parametrize("known", [0, 1, 3])
def test_a_write_answers_the_number_of_watchers_that_stands(
    store: JobStore, tenant: str, known: int
) -> None:
    row = claimed(store, tenant, watchers=2)
    before = replace(row, watchers=known)
    after = replace(before, step="fetching")
    assert store.transition(before, after, lease=factories.lease(row)) == 2
    assert store.get(row.ref) == replace(row, step="fetching")
