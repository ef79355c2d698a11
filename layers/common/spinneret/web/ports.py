"""Ports of fetching: the route of a fetch, and its progress while it waits."""

from datetime import datetime
from typing import Protocol

from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import Url
from spinneret.web.models import Caller, RedirectProgress
from spinneret.web.proxies.models import Route


class RoutedFetcher(Protocol):
    """Fetcher whose route is chosen once for all requests of a fetch."""

    def choose(self, tenant: str, config_id: str | None) -> Route | None:
        """Return the proxy to use, or None for a direct connection.

        Raises FeatureDisabled, SecretUnreadable and DependencyUnavailable.
        """

    def fetch(self, route: Route | None, request: FetchRequest) -> FetchedPage:
        """See Fetcher.fetch; a failure of the proxy raises ProxyFailed."""


class ProgressStore(Protocol):
    """Progress by tenant, caller and requested URL. Raises DependencyUnavailable.

    Progress is kept for REDIRECTS_KEPT_SECONDS; every call may be repeated.
    """

    def find(self, caller: Caller, requested: Url, now: datetime) -> RedirectProgress | None:
        """Return the last stored progress, or None if it is missing or too old."""

    def keep(self, caller: Caller, progress: RedirectProgress, now: datetime) -> None:
        """Replace the progress of this fetch, whose requested URL is the first of `left`."""

    def drop(self, caller: Caller, requested: Url) -> None:
        """Delete the progress of a finished fetch."""
