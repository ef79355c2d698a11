"""Ways to check a target, one for each kind."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol

from spinneret.kernel.errors import FetchFailed, FetchTimeout, UrlBlocked
from spinneret.monitoring import limits
from spinneret.monitoring.checks import rules
from spinneret.monitoring.checks.asking import PAUSES, CheckFetcher, CheckSlots
from spinneret.monitoring.checks.models import CheckResult
from spinneret.monitoring.checks.parts import CheckParts
from spinneret.monitoring.conditions.language import parse_conditions
from spinneret.monitoring.targets.models import Kind, Method, RecordType, TargetWithState
from spinneret.monitoring.targets.sealing import headers_of
from spinneret.monitoring.targets.subjects import visited
from spinneret.web.fetching.addresses import is_public, parse_address
from spinneret.web.fetching.models import FetchRequest, Phases
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, Purpose, WaitUntil


class Probe(Protocol):
    """One running check."""

    @property
    def tries(self) -> int:
        """Number of tries so far."""

    @property
    def latency_ms(self) -> int:
        """Milliseconds since the last try began, without its waits; 0 without a try."""

    def result(self, asked: CheckResult, reservation: str | None) -> CheckResult | WaitUntil:
        """Return the result, or the moment until which the check must wait.

        `asked` has the fields that are known before. Raises HostBusy, DependencyUnavailable, and
        any other DomainError as the reason why there is no answer.
        """


ProbeFactory = Callable[[CheckParts, TargetWithState, CheckSlots], Probe]


class HttpProbe:
    """Requests a URL and judges the response."""

    def __init__(self, parts: CheckParts, watched: TargetWithState, slots: CheckSlots) -> None:
        self._parts = parts
        self._watched = watched
        self._asking = CheckFetcher(
            fetcher=parts.fetcher,
            timeout=parts.timeout,
            slots=slots,
            clock=parts.clock,
            monotonic=parts.monotonic,
            sleep=parts.sleep,
        )

    @property
    def tries(self) -> int:
        return self._asking.tries

    @property
    def latency_ms(self) -> int:
        return self._asking.latency_ms

    def result(self, asked: CheckResult, reservation: str | None) -> CheckResult | WaitUntil:
        """See Probe."""
        caller = _caller(self._watched, reservation)
        page = self._parts.polite(self._asking).fetch(caller, self._request())
        if isinstance(page, WaitUntil):
            return page
        asked = replace(asked, latency_ms=page.duration_ms, tries=self.tries)
        options = self._watched.target.options
        conditions = parse_conditions(options.conditions)
        result = rules.result_of_response(asked, page, options, conditions)
        # A resumed try didn't see the certificates of earlier hosts.
        return replace(result, certificate=None) if self._asking.is_resumed else result

    def _request(self) -> FetchRequest:
        target = self._watched.target
        options, own = target.options, target.options.request
        has_body = options.method != Method.HEAD
        request = FetchRequest(
            # Without its last slash, as in the canonical URL, it may be another resource.
            url=parse_url(target.url),
            method=options.method,
            # One extra byte shows whether the body is longer than the limit.
            excerpt_bytes=limits.CHECK_BODY_BYTES + 1 if has_body else 0,
            excerpt_is_vital=True,
            max_redirects=limits.CHECK_REDIRECTS,
        )
        if own is None:
            return request
        opened = self._parts.seal.open(target.tenant, own)
        body = None if opened.body is None else opened.body.encode()
        return replace(request, headers=headers_of(opened), body=body)


class _Tried:
    """A try that may be repeated, as for HTTP."""

    def __init__(self, parts: CheckParts, watched: TargetWithState, slots: CheckSlots) -> None:
        self._parts = parts
        self._watched = watched
        self._slots = slots
        self._began_at: float | None = None
        self.tries = 0

    @property
    def latency_ms(self) -> int:
        if self._began_at is None:
            return 0
        return round(1000 * (self._parts.monotonic() - self._began_at))

    def _repeated[T](self, attempt: Callable[[], T]) -> T:
        for pause in PAUSES:
            self._slots.require_room(self._parts.timeout)
            self.tries += 1
            self._began_at = self._parts.monotonic()
            try:
                return attempt()
            except (FetchTimeout, FetchFailed) as error:
                if pause is None or rules.is_final(error):
                    raise
            self._parts.sleep(pause)
        raise AssertionError("the last try ends the loop")

    def _answered(self, asked: CheckResult, latency_ms: int) -> CheckResult:
        asked = replace(asked, latency_ms=latency_ms, tries=self.tries)
        return rules.result_of_speed(asked, self._watched.target.options)


class TcpProbe(_Tried):
    """Opens a connection under the rules of the host's rate limit."""

    def result(self, asked: CheckResult, reservation: str | None) -> CheckResult | WaitUntil:
        """See Probe."""
        target = self._watched.target
        assert target.port is not None  # a TCP target has one
        caller, url = _caller(self._watched, reservation), visited(target.host, target.port)
        phases = self._parts.visitor.visit(caller, url, lambda: self._repeated(self._connect))
        if isinstance(phases, WaitUntil):
            return phases
        latency = phases.dns_ms + phases.connect_ms
        return replace(self._answered(asked, latency), phases=phases)

    def _connect(self) -> Phases:
        target = self._watched.target
        assert target.port is not None  # a TCP target has one
        return self._parts.connector.connect(target.host, target.port, self._parts.timeout)


class DnsProbe(_Tried):
    """Asks for records. Only name servers are asked, so no permit of a host is needed."""

    def result(self, asked: CheckResult, reservation: str | None) -> CheckResult | WaitUntil:  # noqa: ARG002 (no host, no rate limit)
        """See Probe. Raises UrlBlocked for an answer that must not be shown."""
        target = self._watched.target
        record_type = target.record_type
        assert record_type is not None  # a DNS target has one
        values = self._repeated(
            lambda: self._parts.records(target.host, record_type, self._parts.timeout)
        )
        latency = self.latency_ms
        if not all(map(self._may_be_shown, values)):
            raise UrlBlocked(f"{target.host} leads to an address that must not be reached")
        result = self._answered(asked, latency)
        return rules.result_of_records(result, record_type, values, target.options.expected)

    def _may_be_shown(self, value: str) -> bool:
        target = self._watched.target
        if target.record_type not in {RecordType.A, RecordType.AAAA}:
            return True
        address = parse_address(value)
        is_open = address is not None and is_public(address)
        return is_open or self._parts.policy.allows_host(target.host)


class LateProbe:
    """A heartbeat that is due is late: a call in time would have moved its due time."""

    tries = 0
    latency_ms = 0

    def __init__(self, _: CheckParts, watched: TargetWithState, __: CheckSlots) -> None:
        self._watched = watched

    def result(self, asked: CheckResult, reservation: str | None) -> CheckResult | WaitUntil:  # noqa: ARG002 (asks nobody)
        """See Probe."""
        options, state = self._watched.target.options, self._watched.state
        allowed = timedelta(seconds=options.interval_seconds + options.grace_seconds)
        return rules.result_of_missing_call(asked, state.called_at, allowed)


PROBES: Final[Mapping[Kind, ProbeFactory]] = {
    Kind.HTTP: HttpProbe,
    Kind.TCP: TcpProbe,
    Kind.DNS: DnsProbe,
    Kind.HEARTBEAT: LateProbe,
}


def _caller(watched: TargetWithState, reservation: str | None) -> Caller:
    target, due_at = watched.target, watched.state.due_at
    assert due_at is not None  # only due targets are checked
    # The name stays the same for every try of this check, also by another message.
    name = f"{target.id}/{due_at:%Y%m%dT%H%M%S%f}"
    return Caller(tenant=target.tenant, id=name, purpose=Purpose.CHECK, reservation=reservation)
