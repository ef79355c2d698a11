"""Records of the DNS by dnspython: one question to the system's name servers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spinneret.kernel.errors import FetchFailed, FetchTimeout

if TYPE_CHECKING:
    from dns.rdata import Rdata
    from dns.resolver import Resolver

Server = tuple[str, int]
"""Address and port of a name server."""

_TRY_SECONDS: Final = 2.0  # for one server over UDP, which may lose a datagram


class DnsRecords:
    """Implements `RecordResolver`; `servers` are asked instead of the ones in resolv.conf(5)."""

    def __init__(self, servers: Sequence[Server] | None = None) -> None:
        self._servers = servers

    def __call__(self, name: str, record_type: str, seconds: float) -> list[str]:
        """See `RecordResolver`; a server that fails is followed by the next one."""
        # Imported with the first question, since most targets are asked over HTTP.
        from dns import exception, resolver  # noqa: PLC0415 - as said
        from dns.name import from_text  # noqa: PLC0415 - as said

        try:
            asked = from_text(name)
        except exception.DNSException as error:
            raise _failed(name, "unknown_host") from error
        try:
            answer = self._resolver().resolve(
                asked, record_type, lifetime=seconds, raise_on_no_answer=False, search=False
            )
        except resolver.LifetimeTimeout as error:
            raise FetchTimeout(f"no name server answered for {name} in time") from error
        except resolver.NXDOMAIN as error:
            raise _failed(name, "unknown_host") from error
        except exception.DNSException as error:
            raise _failed(name, "dns") from error
        return [_value(record) for record in answer.rrset or ()]

    def _resolver(self) -> "Resolver":
        from dns.nameserver import Do53Nameserver  # noqa: PLC0415 - see __call__
        from dns.resolver import Resolver  # noqa: PLC0415 - see __call__

        found = Resolver(configure=self._servers is None)
        found.timeout = _TRY_SECONDS
        if self._servers is not None:
            found.nameservers = [Do53Nameserver(address, port) for address, port in self._servers]
        return found


def _value(record: "Rdata") -> str:
    if strings := getattr(record, "strings", None):  # TXT
        return b"".join(strings).decode(errors="replace")
    return str(record).lower().removesuffix(".")


def _failed(name: str, reason: str) -> FetchFailed:
    return FetchFailed(f"{name} could not be resolved", details={"reason": reason})
