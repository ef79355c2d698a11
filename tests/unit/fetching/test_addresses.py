from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.fetching.address_table import FURTHER, REGISTERED
from spinneret.fetching.addresses import AddressPolicy, embedded_ipv4, is_public, parse_address

PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "192.175.48.1",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2001:3::1",
    "2001:4:112::1",
    "2606:4700::1111",
    "2620:4f:8000::1",
    "2a00:1450:4001:81b::200e",
    "3ffe::1",
    "64:ff9b::8.8.8.8",
    "64:ff9b::5db8:d822",
)

NOT_PUBLIC = (
    # IPv4, edges of every range
    *("0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.0", "10.255.255.255"),
    *("100.64.0.0", "100.100.100.200", "100.127.255.255"),
    *("127.0.0.0", "127.0.0.1", "127.0.0.53", "127.255.255.255"),
    *("169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255"),
    *("172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"),
    *("192.0.0.0", "192.0.0.7", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170"),
    *("192.0.0.171", "192.0.0.192", "192.0.0.255", "192.0.2.0", "192.0.2.255"),
    *("192.88.99.0", "192.88.99.1", "192.88.99.2", "192.88.99.255"),
    *("198.18.0.0", "198.19.255.255", "198.51.100.1", "203.0.113.255"),
    *("224.0.0.0", "224.0.0.251", "239.255.255.255", "240.0.0.0", "255.255.255.255"),
    "168.63.129.16",
    # IPv6 outside global unicast
    *("::", "::1", "::2", "100::1", "100:0:0:1::1", "200::1", "400::1", "1000::1", "1fff::1"),
    *("4000::1", "5f00::1", "8000::1", "fbff::1", "fc00::1", "fd00::1", "fd00:ec2::254"),
    *("fd20:ce::254", "fdff::1", "fe80::1", "fe80::a9fe:a9fe", "febf::1", "fec0::1", "feff::1"),
    *("ff01::1", "ff02::1", "ff05::2", "ff0e::1", "ffff:ffff::1"),
    # IPv6 inside it
    *("2001::1", "2001:1::1", "2001:1::2", "2001:1::3", "2001:1::4", "2001:2::1"),
    *("2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1"),
    *("3fff::1", "3fff:fff:ffff::1"),
    # IPv4-mapped, -compatible, -translated: also of a public address
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
    *("::ffff:8.8.8.8", "::ffff:0.0.0.0", "0:0:0:0:0:ffff:c0a8:1"),
    *("::127.0.0.1", "::10.0.0.1", "::169.254.169.254", "::8.8.8.8", "::7f00:1"),
    *("::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254", "::ffff:0:8.8.8.8"),
    # NAT64: private through the well-known prefix, everything through the local one
    *("64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254"),
    *("64:ff9b::192.168.1.1", "64:ff9b::a9fe:a9fe", "64:ff9b::224.0.0.1", "64:ff9b::0.0.0.0"),
    *("64:ff9b:1::8.8.8.8", "64:ff9b:1::127.0.0.1", "64:ff9b:1:ffff::1", "64:ff9b:0:1::1"),
    # 6to4 and Teredo: also of a public address
    *("2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2002:808:808::1", "2002::1"),
    *("2001:0:7f00:1::", "2001:0:808:808:0:0:80ff:fffe", "2001:0:808:808:0:0:f7f7:f7f7"),
    # ISATAP of a private address under a public prefix
    *("2a00:1450::5efe:10.0.0.1", "2a00:1450::200:5efe:127.0.0.1"),
)


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_may_be_reached(text: str) -> None:
    assert AddressPolicy().permits("example.com", 80, text)


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    assert not AddressPolicy().permits("example.com", 80, text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.com", "fe80::1%eth0", "2001:4860:4860::8888%1", "8.8.8.8%0", "010.0.0.1"),
        *("8.8.8", "8.8.8.8:80", "[2606:4700::1111]", "8.8.8.8 ", "0x8.8.8.8", "8.8.8.8/32"),
    ],
)
def test_what_is_not_a_plain_address_is_refused(text: str) -> None:
    assert not AddressPolicy().permits("example.com", 80, text)


@pytest.mark.parametrize("row", REGISTERED, ids=lambda row: row.network)
def test_every_row_of_the_registries_holds_at_its_edges(row: object) -> None:
    """The most specific row decides; rows of `FURTHER` stand above it."""
    table = {ipaddress.ip_network(r.network): r.reachable for r in (*REGISTERED, *FURTHER)}
    network = ipaddress.ip_network(row.network)  # type: ignore[attr-defined]  # parametrize is untyped
    for address in (network[0], network[-1]):
        deciding = max(
            (n for n in table if n.version == address.version and address in n),
            key=lambda n: n.prefixlen,
        )
        assert is_public(address) == (
            table[deciding] and all(is_public(inner) for inner in embedded_ipv4(address))
        )


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("::ffff:1.2.3.4", {"1.2.3.4"}),
        ("::1.2.3.4", {"1.2.3.4"}),
        ("::ffff:0:1.2.3.4", {"1.2.3.4"}),
        ("64:ff9b::1.2.3.4", {"1.2.3.4"}),
        ("64:ff9b:1::1.2.3.4", {"1.2.3.4"}),
        ("2002:102:304::9", {"1.2.3.4"}),
        # the example of RFC 4380, section 4
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", {"65.54.227.120", "192.0.2.45"}),
        ("2a00:1450::5efe:1.2.3.4", {"1.2.3.4"}),
        ("2a00:1450::200:5efe:1.2.3.4", {"1.2.3.4"}),
        ("2a00:1450::1.2.3.4", set()),
        ("1.2.3.4", set()),
    ],
)
def test_embedded_ipv4_addresses_are_found(text: str, inner: set[str]) -> None:
    address = parse_address(text)
    assert address is not None
    assert {str(found) for found in embedded_ipv4(address)} == inner


def _embeddings(inner: int, noise: int) -> list[int]:
    """An IPv4 address in every place a transition mechanism puts it."""
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
    else:  # then only two forms stand for a host that can be reached so
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
