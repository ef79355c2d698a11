"""Visits of hosts other than by HTTP, under the hosts' rules."""

from collections.abc import Callable

from spinneret.kernel.service import service
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.permits import CallerPermits, FetchDeferred, PermitServices
from spinneret.web.politeness.models import HostOutcome

_OPTIONS = FetchOptions()


@service
class PoliteVisitor:
    """Takes a permit of the host for each visit. All methods raise DependencyUnavailable."""

    services: PermitServices

    def visit[T](self, caller: Caller, url: Url, act: Callable[[], T]) -> T | WaitUntil:
        """Return what `act` returns, or the moment until which the caller must wait.

        Only host and port of the URL count. A visit neither obeys nor changes the breaker of the
        host. Raises DomainBlocked, and what `act` raises.
        """
        permits = CallerPermits(services=self.services, caller=caller, options=_OPTIONS)
        try:
            permit = permits.take(url, permits.own_pace(url))
        except FetchDeferred as deferred:
            return deferred.wait
        try:
            return act()
        finally:
            permits.report(permit, HostOutcome.NOT_TRIED, None)
