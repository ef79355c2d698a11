"""Subjects of targets, as owners name them. All functions are pure."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from ada_url import idna

from spinneret.kernel.errors import UrlBlocked, ValidationFailed
from spinneret.monitoring.targets.models import Identity, Kind, RecordType
from spinneret.web.fetching.addresses import AddressPolicy, parse_address
from spinneret.web.fetching.rules import check_url_at_submission, require_reachable
from spinneret.web.fetching.urls import Url, canonical_url

_ADDRESSES: Final = frozenset({RecordType.A, RecordType.AAAA})
_NAMES: Final = frozenset({RecordType.CNAME, RecordType.NS})


@dataclass(frozen=True)
class TcpAddress:
    """A host and port to connect to."""

    host: str
    port: int


@dataclass(frozen=True)
class DnsName:
    """A name and the type of its records."""

    host: str
    record_type: RecordType


@dataclass(frozen=True)
class Heartbeat:
    """Calls of the owner's job."""


Subject = str | TcpAddress | DnsName | Heartbeat
"""A text is the URL of HTTP checks."""


def identity_of(subject: Subject, target_id: str, policy: AddressPolicy) -> Identity:
    """Return the identity of a new target. Its host is canonical (`rules.host_named`).

    Raises UrlInvalid, UrlBlocked and ValidationFailed. Answers of the DNS are checked by checks.
    """
    match subject:
        case str():
            url = canonical_url(check_url_at_submission(subject, policy))
            return Identity(
                kind=Kind.HTTP, url=subject.strip(), canonical_url=url.text, host=url.host
            )
        case TcpAddress(host=host, port=port):
            require_reachable(visited(host, port), policy.of_any_port(), "host")
            shown = f"[{host}]" if ":" in host else host
            address = f"tcp://{shown}:{port}"
            return Identity(kind=Kind.TCP, url=address, canonical_url=address, host=host, port=port)
        case DnsName(host=host, record_type=record_type):
            _require_name(host, policy)
            address = f"dns:{host}?type={record_type}"
            return Identity(
                kind=Kind.DNS,
                url=address,
                canonical_url=address,
                host=host,
                record_type=record_type,
            )
        case Heartbeat():
            address = f"heartbeat:{target_id}"
            return Identity(kind=Kind.HEARTBEAT, url=address, canonical_url=address, host=target_id)


def visited(host: str, port: int) -> Url:
    """Return the URL by which a host's rules know this port."""
    return Url(scheme="http", host=host, port=port, path="/", query="")


def expected_value(record_type: RecordType, text: str) -> str:
    """Return an expected value as answers have it. Raises ValidationFailed."""
    value = text.strip()
    if record_type in _ADDRESSES:
        try:
            address = ip_address(value)
        except ValueError:
            address = None
        if address is None or (address.version == 4) != (record_type is RecordType.A):
            raise _no_value(record_type, text)
        return str(address)
    if record_type in _NAMES:
        return _dns_name(record_type, value)
    if record_type is RecordType.MX:
        preference, _, name = value.partition(" ")
        if not (preference.isascii() and preference.isdigit()) or not name.strip():
            raise _no_value(record_type, text)
        return f"{int(preference)} {_dns_name(record_type, name.strip())}"
    return value


def _require_name(host: str, policy: AddressPolicy) -> None:
    if parse_address(host) is not None:
        raise ValidationFailed.about("host", "must be a name, not an address")
    try:
        require_reachable(visited(host, 80), policy, "host")
    except UrlBlocked:
        if not policy.allows_host(host):
            raise


def _dns_name(record_type: RecordType, text: str) -> str:
    """Return a name as answers have it: ASCII in lower case, without the last dot."""
    name = text.lower().removesuffix(".")
    encoded = name if name.isascii() else idna.encode(name).decode()
    if not encoded:
        raise _no_value(record_type, text)
    return encoded


def _no_value(record_type: RecordType, text: str) -> ValidationFailed:
    hint = "write it as `10 mx.example.com`" if record_type is RecordType.MX else ""
    message = f"{text!r} is no value of a record of type {record_type}"
    return ValidationFailed.of_field("expected", message, hint or None)
