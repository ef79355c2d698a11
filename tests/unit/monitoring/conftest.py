"""Fixtures for monitoring on fakes."""

import itertools
import os

import pytest

from spinneret.monitoring.incidents.service import IncidentService
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.targets.service import TargetService
from spinneret.monitoring.targets.views import target_json
from spinneret.monitoring.wiring import TargetApi
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.checking import CheckWorld
from tests.fakes.monitoring import FakeIncidentStore, FakeWatch
from tests.fakes.sealing import FakeSealer
from tests.fakes.time import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def world() -> CheckWorld:
    return CheckWorld()


@pytest.fixture
def watch() -> FakeWatch:
    return FakeWatch()


@pytest.fixture
def targets(watch: FakeWatch, clock: HandClock) -> TargetService:
    numbers = itertools.count(1)
    return TargetService(
        store=watch,
        policy=AddressPolicy(),
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        render=target_json,
        most=50,
        shortest_interval=12,
        rate=1.0,
        announce=lambda _: None,
        seal=RequestSeal(FakeSealer()),
        random=os.urandom,
    )


@pytest.fixture
def api(watch: FakeWatch, targets: TargetService, clock: HandClock) -> TargetApi:
    return TargetApi(
        targets=targets,
        checks=watch,
        incidents=IncidentService(store=FakeIncidentStore(watch), clock=clock),
        figures=FigureService(rollups=watch, checks=watch, clock=clock),
        default_interval=15,
    )
