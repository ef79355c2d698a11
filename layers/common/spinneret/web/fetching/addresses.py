"""Addresses that a fetch may reach.

An address is public when the most specific row of `address_table` says so and every IPv4 address
embedded in it is public too. The standard library only parses addresses here: its `is_global`
differs between patch releases and accepts multicast, fec0::/10 and embedded IPv4.

Transition prefixes: only NAT64's well-known prefix is reachable, and only for a public IPv4,
because networks with DNS64 answer 64:ff9b::/96 for every IPv4-only site. 6to4 and Teredo are always
rejected (their relays are gone). So is local-use NAT64, whose operator chooses the destination.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from spinneret.web.fetching.address_table import FURTHER, REGISTERED
from spinneret.web.fetching.blocked_ports import BLOCKED_PORTS

Address = IPv4Address | IPv6Address

_REACHABLE: Final = {
    ip_network(row.network): row.reachable for row in (*REGISTERED, *FURTHER)
}  # the later row of an equal network wins
_MOST_SPECIFIC_FIRST: Final = sorted(_REACHABLE, key=lambda network: -network.prefixlen)

_IPV4_IN_LAST_BITS: Final = tuple(
    IPv6Network(text)
    for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)
_6TO4: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_ISATAP: Final = 0x0000_5EFE  # upper half of the interface identifier, RFC 5214
_ISATAP_MASK: Final = 0xFDFF_FFFF  # without the universal/local bit
_32_BITS: Final = 0xFFFF_FFFF


def allowance(pair: str) -> str:
    """Return how the stage's operator can allow a host with a port."""
    return (
        f"the stage's parameter FetchAllowed can allow {pair}; "
        f"on the local stack: make set FetchAllowed={pair}"
    )


def parse_address(text: str) -> Address | None:
    """Parse an IPv4 or IPv6 literal without brackets; return None for a name or a zone."""
    if "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def embedded_ipv4(address: Address) -> tuple[IPv4Address, ...]:
    """Return every IPv4 address that a gateway might extract from an IPv6 address."""
    if isinstance(address, IPv4Address):
        return ()
    return tuple(IPv4Address(bits & _32_BITS) for bits in _embedded_bits(address))


def _embedded_bits(address: IPv6Address) -> Iterator[int]:
    value = int(address)
    if any(address in network for network in _IPV4_IN_LAST_BITS):
        yield value
    if address in _6TO4:
        yield value >> 80
    if address in _TEREDO:
        yield value >> 64  # the server
        yield ~value  # the client, stored inverted (RFC 4380 section 4)
    if (value >> 32) & _ISATAP_MASK == _ISATAP:
        yield value


def is_public(address: Address) -> bool:
    """Whether the address and all addresses embedded in it are globally reachable."""
    network = next(
        network
        for network in _MOST_SPECIFIC_FIRST
        if network.version == address.version and address in network
    )
    return _REACHABLE[network] and all(is_public(inner) for inner in embedded_ipv4(address))


class AddressPolicy:
    """Address rules: public addresses at web ports, plus exact `host:port` pairs of a deployment.

    A pair allows that port of a host spelled as in the URL, with IPv6 hosts in brackets. `denied`
    pairs win over everything: they hold the address of the Lambda runtime API, from which a fetch
    could take over the function. Raises ValueError for a malformed pair.
    """

    def __init__(
        self,
        allowed: frozenset[str] = frozenset(),
        *,
        denied: frozenset[str] = frozenset(),
        blocked_ports: frozenset[int] = BLOCKED_PORTS,
    ) -> None:
        self._pairs = allowed, denied
        self._blocked_ports = blocked_ports
        self._allowed = frozenset(_parse_pair(pair) for pair in allowed)
        self._denied = frozenset(_parse_pair(pair) for pair in denied)

    def of_any_port(self) -> AddressPolicy:
        """Return the same rules without blocked ports, for connections that send nothing."""
        allowed, denied = self._pairs
        return AddressPolicy(allowed, denied=denied, blocked_ports=frozenset())

    def allows_pair(self, host: str, port: int) -> bool:
        """Whether the deployment allows this host and port, regardless of the host's address."""
        pair = (_canonical_host(host), port)
        return pair in self._allowed and pair not in self._denied

    def allows_host(self, host: str) -> bool:
        """Whether the deployment allows this host at any port."""
        name = _canonical_host(host)
        return any(allowed == name for allowed, _ in self._allowed - self._denied)

    def permits_port(self, host: str, port: int) -> bool:
        """Whether a request may use this port; an allowed pair may have any port."""
        return port not in self._blocked_ports or self.allows_pair(host, port)

    def permits(self, host: str, port: int, address: str) -> bool:
        """Whether a connection for `host:port` of a URL may use this address of the host."""
        parsed = parse_address(address)
        if parsed is None or self._is_denied(host, port, parsed):
            return False
        if not self.permits_port(host, port):
            return False
        return is_public(parsed) or self.allows_pair(host, port)

    def _is_denied(self, host: str, port: int, address: Address) -> bool:
        return any(
            _canonical_host(host) == denied_host or _may_reach(address, denied_host)
            for denied_host, denied_port in self._denied
            if denied_port == port
        )


def _may_reach(address: Address, host: str) -> bool:
    """Whether the address may belong to the host.

    True for its own address, for any address of this machine and, if the host is a name, for any
    non-public address.
    """
    forms = (address, *embedded_ipv4(address))
    literal = parse_address(host)
    if any(form == literal or form.is_loopback or form.is_unspecified for form in forms):
        return True
    return literal is None and not is_public(address)


def _parse_pair(pair: str) -> tuple[str, int]:
    host, _, port = pair.strip().rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    bracketed = host == f"[{bare}]"
    if not bare or bracketed != (":" in bare) or not (port.isascii() and port.isdigit()):
        raise ValueError(f"expected host:port, got {pair!r}")
    if not 0 < int(port) <= 0xFFFF:
        raise ValueError(f"port out of range in {pair!r}")
    return _canonical_host(bare), int(port)


def _canonical_host(host: str) -> str:
    address = parse_address(host)
    return host.lower() if address is None else str(address)
