"""URLs of proxy servers, and the choice of a server for a request."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel.errors import UrlBlocked, ValidationFailed
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import Proxy
from spinneret.web.proxies import rules
from spinneret.web.proxies.models import Credentials, Failures, ProxyConfig, ProxyServer, Usage
from spinneret.web.proxies.models import RotationStrategy as Strategy
from tests.fakes.time import START

NOW = 1_767_355_200
HOUR = 3600


def config(servers: int) -> ProxyConfig:
    return ProxyConfig(
        tenant="acme",
        id="proxy_1",
        name="main",
        servers=(ProxyServer(url="http://proxy.example:1"),) * servers,
        strategy=Strategy.RANDOM,
        is_active=True,
        created_at=START,
        updated_at=START,
    )


def failing(**counts: int) -> Usage:
    """Return usage with failures at this moment, by server position: `failing(p0=3)`."""
    failures = {int(name[1:]): Failures(count=n, last_at=NOW) for name, n in counts.items()}
    return Usage(failures=failures)


# ---------------------------------------------------------------- URLs


@pytest.mark.parametrize(
    ("text", "url", "host"),
    [
        ("http://proxy.example:3128", "http://proxy.example:3128", "proxy.example"),
        (" HTTP://Proxy.Example:3128/ ", "http://proxy.example:3128", "proxy.example"),
        ("http://proxy.example", "http://proxy.example:80", "proxy.example"),
        ("https://proxy.example", "https://proxy.example:443", "proxy.example"),
        ("http://93.184.216.34:8080", "http://93.184.216.34:8080", "93.184.216.34"),
        (
            "http://[2606:4700:0::1111]:8080",
            "http://[2606:4700::1111]:8080",
            "2606:4700::1111",
        ),
        ("http://bücher.example:81", "http://xn--bcher-kva.example:81", "xn--bcher-kva.example"),
    ],
)
def test_a_server_has_one_spelling(text: str, url: str, host: str) -> None:
    assert rules.server_url(text, AddressPolicy(), "server.url") == url
    proxy = rules.proxy_of(url, None)
    assert (proxy.host, proxy.username) == (host, None)
    assert url.endswith(f":{proxy.port}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "proxy.example:3128",
        "socks5://proxy.example:1080",
        "ftp://proxy.example",
        "http://spider:silk@proxy.example:3128",
        "http://proxy.example:3128/pac",
        "http://proxy.example:3128?session=silk",
        "http://proxy.example:99999",
    ],
)
def test_what_is_no_proxy_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        rules.server_url(text, AddressPolicy(), "servers.3.url")
    shown = f"{refusal.value.message} {refusal.value.details}"
    assert [each["path"] for each in refusal.value.details["fields"]] == ["servers.3.url"]
    assert "silk" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:3128",
        "http://10.0.0.1:3128",
        "http://[::1]:3128",
        "http://169.254.169.254",
        "http://localhost:3128",
        "http://proxy.internal:3128",
        "http://proxy.example:25",
    ],
)
def test_a_proxy_that_must_not_be_reached_is_blocked(text: str) -> None:
    with pytest.raises(UrlBlocked) as refusal:
        rules.server_url(text, AddressPolicy(), "servers.3.url")
    assert [each["path"] for each in refusal.value.details["fields"]] == ["servers.3.url"]


def test_a_deployment_may_name_a_proxy_of_its_own() -> None:
    policy = AddressPolicy(frozenset({"127.0.0.1:3128"}))
    url = "http://127.0.0.1:3128"
    assert rules.server_url(url, policy, "server.url") == url
    with pytest.raises(UrlBlocked):
        rules.server_url("http://127.0.0.1:3129", policy, "server.url")


def test_a_proxy_carries_its_credentials_and_does_not_show_them() -> None:
    proxy = rules.proxy_of(
        "https://proxy.example:1", Credentials(username="spider", password="silk")
    )
    expected = Proxy(
        scheme="https", host="proxy.example", port=1, username="spider", password="silk"
    )
    assert proxy == expected
    assert "spider" not in repr(proxy)
    assert "silk" not in repr(proxy)


# ---------------------------------------------------------------- Failures


@pytest.mark.parametrize(
    ("usage", "now", "left"),
    [
        (Usage(), NOW, (0, 1, 2)),
        (failing(p0=2), NOW, (0, 1, 2)),
        (failing(p0=3), NOW, (1, 2)),
        (failing(p0=3, p2=7), NOW, (1,)),
        (failing(p0=3, p1=3, p2=3), NOW, (0, 1, 2)),
        (failing(p0=3), NOW + HOUR - 1, (1, 2)),
        (failing(p0=3), NOW + HOUR, (0, 1, 2)),
    ],
)
def test_a_server_that_failed_three_times_rests_while_others_are_left(
    usage: Usage, now: int, left: tuple[int, ...]
) -> None:
    assert rules.candidates(config(3), usage, now) == left


# ---------------------------------------------------------------- Choice


def test_round_robin_goes_round() -> None:
    assert [rules.round_robin((0, 2, 5), turn) for turn in range(1, 8)] == [0, 2, 5, 0, 2, 5, 0]


@pytest.mark.parametrize(("chance", "position"), [(0.0, 4), (0.49, 4), (0.5, 9), (0.999999, 9)])
def test_chance_chooses_among_all(chance: float, position: int) -> None:
    assert rules.at_random((4, 9), chance) == position


@pytest.mark.parametrize(
    ("uses", "now", "chance", "position"),
    [
        ({}, NOW, 0.0, 0),
        ({}, NOW, 0.99, 2),
        ({0: 1}, NOW, 0.0, 1),
        ({0: 1, 1: 1}, NOW, 0.0, 2),
        ({0: 5, 1: 4, 2: 5}, NOW, 0.99, 1),
        ({0: 5, 1: 4, 2: 5}, NOW + HOUR, 0.0, 0),
    ],
)
def test_the_least_used_is_chosen_and_chance_decides_between_equals(
    uses: dict[int, int], now: int, chance: float, position: int
) -> None:
    usage = Usage(counted_since=NOW, uses=uses)
    assert rules.least_used((0, 1, 2), usage, now, chance) == position


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=60), st.integers(1, 7))
def test_least_used_servers_never_differ_by_more_than_one(
    chances: list[float], servers: int
) -> None:
    uses: Counter[int] = Counter()
    for chance in chances:
        usage = Usage(counted_since=NOW, uses=uses)
        uses[rules.least_used(range(servers), usage, NOW, chance)] += 1
    counts = [uses[position] for position in range(servers)]
    assert max(counts) - min(counts) <= 1
