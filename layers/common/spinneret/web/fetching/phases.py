"""Durations of the phases of an exchange, and the certificate of its server."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any, Final

from spinneret.web.fetching.models import Certificate, Phases

_SHORT_NAMES: Final = {
    "commonName": "CN",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "stateOrProvinceName": "ST",
    "localityName": "L",
}  # RFC 4514, section 3


class Phase(Enum):
    """Phases before the response head that a connection measures itself."""

    DNS = auto()
    CONNECT = auto()
    TLS = auto()


class PhaseTimer:
    """Measures one hop at a time; `monotonic` returns seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.begin()

    def begin(self) -> None:
        """Start a hop, and discard the phases of the previous hop."""
        self._began_at = self._monotonic()
        self._head_at: float | None = None
        self._seconds: dict[Phase, float] = {}

    @contextmanager
    def measure(self, phase: Phase) -> Iterator[None]:
        """Add the duration of the block to a phase, even if the block fails."""
        began_at = self._monotonic()
        try:
            yield
        finally:
            spent = self._monotonic() - began_at
            self._seconds[phase] = self._seconds.get(phase, 0.0) + spent

    def head_received(self) -> None:
        """Record that the head of the response is complete."""
        self._head_at = self._monotonic()

    def phases(self) -> Phases:
        """Return the phases of this hop so far."""
        now = self._monotonic()
        head_at = now if self._head_at is None else self._head_at
        waited = head_at - self._began_at - sum(self._seconds.values())
        tls = self._seconds.get(Phase.TLS)
        return Phases(
            dns_ms=_ms(self._seconds.get(Phase.DNS, 0.0)),
            connect_ms=_ms(self._seconds.get(Phase.CONNECT, 0.0)),
            tls_ms=None if tls is None else _ms(tls),
            first_byte_ms=_ms(max(waited, 0.0)),
            transfer_ms=_ms(now - head_at),
        )


def certificate_of(tls: ssl.SSLSocket | ssl.SSLObject | None) -> Certificate | None:
    """Return the verified certificate of a connection, or None without TLS."""
    found: Mapping[str, Any] = (tls.getpeercert() if tls is not None else None) or {}
    if not found:
        return None
    return Certificate(
        subject=_name(found["subject"]),
        issuer=_name(found["issuer"]),
        names=tuple(name for _, name in found.get("subjectAltName", ())),
        not_before=_moment(found["notBefore"]),
        not_after=_moment(found["notAfter"]),
    )


def _name(parts: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    pairs = (pair for part in parts for pair in part)
    return ", ".join(f"{_SHORT_NAMES.get(key, key)}={value}" for key, value in pairs)


def _moment(text: str) -> datetime:
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(text), UTC)


def _ms(seconds: float) -> int:
    return round(1000 * seconds)
