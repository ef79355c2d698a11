"""Detection of an outage of the stage's own network, by requests to its reference URLs."""

import pytest

from spinneret.aws.stage import Stage
from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout
from spinneret.kernel.settings import SettingsError
from spinneret.monitoring.checks.connectivity import Connectivity
from spinneret.monitoring.checks.worker_wiring import REFERENCE_URLS, connectivity
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from tests.fakes.fetching import fetched_page
from tests.fakes.time import HandClock

ONE, TWO = "https://one.example/", "https://two.example/"


class Network:
    """A fetcher whose responses can be set."""

    def __init__(self) -> None:
        self.answers: dict[str, FetchedPage | DomainError] = {}
        self.asked: list[tuple[str, str, float | None]] = []

    def fetch(self, request: FetchRequest) -> FetchedPage:
        self.asked.append((request.url.text, request.method, request.total_seconds))
        answer = self.answers[request.url.text]
        if isinstance(answer, DomainError):
            raise answer
        return answer


@pytest.fixture
def network() -> Network:
    return Network()


def guard(network: Network, clock: HandClock, text: str) -> Connectivity:
    """Return the connectivity check of a stage whose parameter is `text`."""
    references = Stage({"REFERENCE_URLS": text}, [REFERENCE_URLS])[REFERENCE_URLS]
    return connectivity(references, AddressPolicy(), network, seconds=5.0, clock=clock)


def test_without_references_every_failure_is_the_sites(network: Network, clock: HandClock) -> None:
    assert guard(network, clock, "").is_online()
    assert network.asked == []


@pytest.mark.parametrize("status", [200, 404, 503])
def test_any_answer_of_any_reference_says_that_we_are_online(
    network: Network, clock: HandClock, status: int
) -> None:
    network.answers = {
        ONE: FetchTimeout("no answer"),
        TWO: fetched_page(TWO, b"", status_code=status),
    }
    assert guard(network, clock, f"{TWO}, {ONE}").is_online()
    assert network.asked == [(ONE, "HEAD", 2.5), (TWO, "HEAD", 2.5)]


def test_when_no_reference_answers_we_are_offline_for_ten_seconds(
    network: Network, clock: HandClock
) -> None:
    network.answers = {ONE: FetchFailed("refused", details={"reason": "connection"})}
    ours = guard(network, clock, ONE)
    assert not ours.is_online()
    network.answers[ONE] = fetched_page(ONE)
    clock.advance(9)
    assert not ours.is_online()
    clock.advance(1)
    assert ours.is_online()
    assert len(network.asked) == 2


@pytest.mark.parametrize("text", ["one.example", "ftp://one.example/", f"{ONE},http://127.0.0.1/"])
def test_a_reference_that_can_not_be_asked_is_refused_by_name(
    network: Network, clock: HandClock, text: str
) -> None:
    with pytest.raises(SettingsError, match="REFERENCE_URLS"):
        guard(network, clock, text)
