import ipaddress
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.web.fetching.address_table import FURTHER, REGISTERED
from spinneret.web.fetching.addresses import AddressPolicy, embedded_ipv4, is_public, parse_address
from tests.rows import each_row
from tests.unit.web.fetching.cases import Case, table


@table("addresses", "addresses")
def test_only_a_globally_reachable_address_may_be_reached(case: Case) -> None:
    permitted = AddressPolicy().permits("example.com", 80, case["input"])
    assert permitted == (case["expected"] == "reachable")


@table("addresses", "literals")
def test_what_is_not_a_plain_address_is_refused(case: Case) -> None:
    assert not AddressPolicy().permits("example.com", 80, case["input"])


# covers F-01
@each_row((row.network, row) for row in REGISTERED)
def test_every_row_of_the_registries_holds_at_its_edges(row: Any) -> None:
    """The most specific row decides; for the same network, the row of `FURTHER` does."""
    table = {ipaddress.ip_network(r.network): r.reachable for r in (*REGISTERED, *FURTHER)}
    network = ipaddress.ip_network(row.network)
    for address in (network[0], network[-1]):
        deciding = max(
            (n for n in table if n.version == address.version and address in n),
            key=lambda n: n.prefixlen,
        )
        assert is_public(address) == (
            table[deciding] and all(is_public(inner) for inner in embedded_ipv4(address))
        )


@table("addresses", "embedded")
def test_embedded_ipv4_addresses_are_found(case: Case) -> None:
    address = parse_address(case["input"])
    assert address is not None
    assert sorted(str(found) for found in embedded_ipv4(address)) == case["expected"]


def _embeddings(inner: int, noise: int) -> list[int]:
    """Return IPv6 addresses with the IPv4 address where each transition mechanism embeds it."""
    low64, low32 = noise & (2**64 - 1), noise & (2**32 - 1)
    return [
        inner,
        0xFFFF << 32 | inner,
        0xFFFF << 48 | inner,
        0x64FF9B << 96 | inner,
        0x64FF9B_0001 << 80 | (noise & (2**48 - 1)) << 32 | inner,
        0x2002 << 112 | inner << 80 | noise & (2**80 - 1),
        0x20010000 << 96 | inner << 64 | low64,
        0x20010000 << 96 | low32 << 64 | noise & 0xFFFFFFFF << 32 | ~inner & (2**32 - 1),
        0x2A001450 << 96 | 0x5EFE << 32 | inner,
    ]


@given(inner=st.integers(0, 2**32 - 1), noise=st.integers(0, 2**128 - 1))
def test_no_embedding_makes_a_private_ipv4_address_reachable(inner: int, noise: int) -> None:
    forms = [IPv6Address(value) for value in _embeddings(inner, noise)]
    if not is_public(IPv4Address(inner)):
        assert [form for form in forms if is_public(form)] == []
    else:  # at most two forms are public: NAT64's and ISATAP's
        assert {str(form) for form in forms if is_public(form)} <= {str(forms[3]), str(forms[8])}


@given(st.integers(0, 2**32 - 1))
def test_what_is_public_here_is_global_for_the_standard_library_too(value: int) -> None:
    address = IPv4Address(value)
    assert not is_public(address) or (address.is_global and not address.is_multicast)


@given(st.integers(0, 2**128 - 1))
def test_only_global_unicast_is_public_in_ipv6(value: int) -> None:
    address = IPv6Address(value)
    assert not is_public(address) or value >> 125 == 1 or value >> 32 == 0x64FF9B << 64


def test_a_pair_allows_exactly_its_host_and_port() -> None:
    policy = AddressPolicy(frozenset({"127.0.0.1:8484", "Intranet.test:80", "[::1]:8080"}))
    assert policy.permits("127.0.0.1", 8484, "127.0.0.1")
    assert policy.permits("intranet.test", 80, "10.0.0.7")
    assert policy.permits("::1", 8080, "::1")
    assert not policy.permits("127.0.0.1", 8485, "127.0.0.1")
    assert not policy.permits("127.0.0.2", 8484, "127.0.0.2")
    assert not policy.permits("evil.test", 8484, "127.0.0.1")
    assert not policy.permits("sub.intranet.test", 80, "10.0.0.7")
    assert not policy.permits("::1", 80, "::1")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        ("localhost", "::1"),
        ("127.0.0.2", "127.0.0.2"),
        ("0.0.0.0", "0.0.0.0"),
        ("mapped.test", "::ffff:127.0.0.1"),
        ("site.test", "127.0.0.1"),
    ],
)
def test_the_runtime_api_is_denied_even_when_its_pair_is_allowed(host: str, address: str) -> None:
    pair = f"{host}:9001"
    allowed = frozenset({pair, "127.0.0.1:8484"})
    assert AddressPolicy(allowed).permits(host, 9001, address)
    policy = AddressPolicy(allowed, denied=frozenset({"127.0.0.1:9001"}))
    assert not policy.permits(host, 9001, address)
    assert policy.permits("127.0.0.1", 8484, "127.0.0.1")


def test_a_runtime_api_given_by_name_is_denied_by_name_and_by_any_inner_address() -> None:
    allowed = frozenset({"sandbox.test:9001", "10.1.1.1:9001", "93.184.216.34:9001"})
    policy = AddressPolicy(allowed, denied=frozenset({"sandbox.test:9001"}))
    assert not policy.permits("sandbox.test", 9001, "93.184.216.34")
    assert not policy.permits("10.1.1.1", 9001, "10.1.1.1")
    assert policy.permits("93.184.216.34", 9001, "93.184.216.34")
    assert not policy.allows_pair("sandbox.test", 9001)


@pytest.mark.parametrize(
    "pair",
    ["", "host", "host:", ":80", "host:x", "host:0", "host:65536", "::1:80", "[host]:80", "h:+1"],
)
def test_a_malformed_pair_is_an_error_at_start(pair: str) -> None:
    with pytest.raises(ValueError, match=r"host:port|port out of range"):
        AddressPolicy(frozenset({pair}))
