"""The ports of fetching: which way a fetch goes, and what is kept of it while it waits."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, Progress
from spinneret.web.proxies.models import Route


class RoutedFetcher(Protocol):
    """Fetches by a way that is chosen once for all requests of a fetch."""

    def choose(self, tenant: str, config_id: str | None) -> Route | None:
        """The proxy by which to go; None is the direct way.

        Raises FeatureDisabled, SecretUnreadable and DependencyUnavailable.
        """
        ...

    def fetch(self, route: Route | None, request: FetchRequest) -> FetchedPage:
        """See Fetcher.fetch; a failure of the proxy is ProxyFailed."""
        ...


class ProgressStore(Protocol):
    """Progress by tenant, caller and requested URL. Raises DependencyUnavailable.

    It is kept for REDIRECTS_KEPT_SECONDS; every call may be repeated.
    """

    def find(self, caller: Caller, requested: Url, now: datetime) -> Progress | None:
        """The progress that was kept last; None once it is too old."""
        ...

    def keep(self, caller: Caller, progress: Progress, now: datetime) -> None:
        """Replace the progress of this fetch, whose requested URL is the first of `left`."""
        ...

    def drop(self, caller: Caller, requested: Url) -> None:
        """Forget the progress: the fetch is over."""
        ...
