"""Special address ranges, as a literal table.

`REGISTERED` is the two IANA special-purpose registries, row by row:
https://www.iana.org/assignments/iana-ipv4-special-registry/ and
https://www.iana.org/assignments/iana-ipv6-special-registry/, both last updated 2025-10-09. A row is
reachable when its column "Globally Reachable" is True; "N/A" (Teredo, 6to4) and the empty cells of
ended assignments (6to4 relays, ORCHID) count as unreachable.

`FURTHER` holds ranges that the registries lack or that we reject in addition; it wins for a range
in both. The most specific range that contains an address decides.
"""

from typing import Final, NamedTuple


class AddressRange(NamedTuple):
    """A range in CIDR notation, and whether its addresses may be fetched from."""

    network: str
    name: str
    reachable: bool


REGISTERED: Final = (
    AddressRange("0.0.0.0/8", "this network", False),
    AddressRange("0.0.0.0/32", "this host on this network", False),
    AddressRange("10.0.0.0/8", "private use", False),
    AddressRange("100.64.0.0/10", "shared address space", False),
    AddressRange("127.0.0.0/8", "loopback", False),
    AddressRange("169.254.0.0/16", "link local", False),
    AddressRange("172.16.0.0/12", "private use", False),
    AddressRange("192.0.0.0/24", "IETF protocol assignments", False),
    AddressRange("192.0.0.0/29", "IPv4 service continuity prefix", False),
    AddressRange("192.0.0.8/32", "IPv4 dummy address", False),
    AddressRange("192.0.0.9/32", "Port Control Protocol anycast", True),
    AddressRange("192.0.0.10/32", "TURN anycast", True),
    AddressRange("192.0.0.170/32", "NAT64/DNS64 discovery", False),
    AddressRange("192.0.0.171/32", "NAT64/DNS64 discovery", False),
    AddressRange("192.0.2.0/24", "documentation", False),
    AddressRange("192.31.196.0/24", "AS112-v4", True),
    AddressRange("192.52.193.0/24", "AMT", True),
    AddressRange("192.88.99.0/24", "6to4 relay anycast (ended)", False),
    AddressRange("192.88.99.2/32", "6a44 relay anycast", False),
    AddressRange("192.168.0.0/16", "private use", False),
    AddressRange("192.175.48.0/24", "direct delegation AS112 service", True),
    AddressRange("198.18.0.0/15", "benchmarking", False),
    AddressRange("198.51.100.0/24", "documentation", False),
    AddressRange("203.0.113.0/24", "documentation", False),
    AddressRange("240.0.0.0/4", "reserved", False),
    AddressRange("255.255.255.255/32", "limited broadcast", False),
    AddressRange("::1/128", "loopback", False),
    AddressRange("::/128", "unspecified", False),
    AddressRange("::ffff:0:0/96", "IPv4-mapped", False),
    AddressRange("64:ff9b::/96", "NAT64, well-known prefix", True),
    AddressRange("64:ff9b:1::/48", "NAT64, local use", False),
    AddressRange("100::/64", "discard only", False),
    AddressRange("100:0:0:1::/64", "dummy prefix", False),
    AddressRange("2001::/23", "IETF protocol assignments", False),
    AddressRange("2001::/32", "Teredo", False),
    AddressRange("2001:1::1/128", "Port Control Protocol anycast", True),
    AddressRange("2001:1::2/128", "TURN anycast", True),
    AddressRange("2001:1::3/128", "DNS-SD service registration anycast", True),
    AddressRange("2001:2::/48", "benchmarking", False),
    AddressRange("2001:3::/32", "AMT", True),
    AddressRange("2001:4:112::/48", "AS112-v6", True),
    AddressRange("2001:10::/28", "ORCHID (ended)", False),
    AddressRange("2001:20::/28", "ORCHIDv2", True),
    AddressRange("2001:30::/28", "drone remote identification", True),
    AddressRange("2001:db8::/32", "documentation", False),
    AddressRange("2002::/16", "6to4", False),
    AddressRange("2620:4f:8000::/48", "direct delegation AS112 service", True),
    AddressRange("3fff::/20", "documentation", False),
    AddressRange("5f00::/16", "segment routing identifiers", False),
    AddressRange("fc00::/7", "unique local", False),
    AddressRange("fe80::/10", "link local", False),
)

FURTHER: Final = (
    AddressRange("0.0.0.0/0", "IPv4 unicast", True),
    AddressRange("224.0.0.0/4", "multicast", False),
    # Public by its number, but within Azure it is the host's own agent (metadata, DNS, DHCP).
    AddressRange("168.63.129.16/32", "Azure platform address", False),
    # The nearest device answers anycast; it may belong to our own network (RFC 7723, 8155).
    AddressRange("192.0.0.9/32", "Port Control Protocol anycast", False),
    AddressRange("192.0.0.10/32", "TURN anycast", False),
    AddressRange("2001:1::1/128", "Port Control Protocol anycast", False),
    AddressRange("2001:1::2/128", "TURN anycast", False),
    AddressRange("2001:1::3/128", "DNS-SD service registration anycast", False),
    # IANA assigns unicast from 2000::/3 only; the rest of IPv6 is special, deprecated or unused. So
    # this row also rejects IPv4-compatible ::/96, IPv4-translated ::ffff:0:0:0/96, site-local
    # fec0::/10 and multicast ff00::/8.
    AddressRange("::/0", "IPv6 outside global unicast", False),
    AddressRange("2000::/3", "IPv6 global unicast", True),
)
