"""Build the services of proxies."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import KmsSealer, kms_client
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.web.fetching.models import Proxy
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HostServiceSettings, host_pace, host_service
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.dynamo_usage import DynamoProxyUsageStore
from spinneret.web.proxies.rotation import ProxyRotation, RotatingFetcher
from spinneret.web.proxies.service import CredentialSeal, ProxyService
from spinneret.web.proxies.trials import ProxyTrials

if TYPE_CHECKING:
    from spinneret.web.fetching.http import GuardedFetcher


@dataclass(frozen=True, kw_only=True)
class ProxySettings(HostServiceSettings):
    """Settings of proxies.

    They are the key that encrypts credentials, the user agent of tests, and whether crawls may use
    proxies.
    """

    secrets_key_id: str
    user_agent: str
    features__enable_proxy_rotation: bool = False


def proxy_service(settings: ProxySettings) -> ProxyService:
    """Return the proxy configs of this stage."""
    client = dynamodb_client()
    return ProxyService(
        store=DynamoProxyStore(client, settings.domains_table),
        usage=DynamoProxyUsageStore(client, settings.domains_table),
        seal=_seal(settings),
        policy=address_policy(settings),
        clock=utc_now,
        new_id=id_maker(utc_now),
        enabled=settings.features__enable_proxy_rotation,
    )


def proxy_rotation(settings: ProxySettings) -> ProxyRotation:
    """Return the rotation, which all workers share."""
    client = dynamodb_client()
    return ProxyRotation(
        store=DynamoProxyStore(client, settings.domains_table),
        usage=DynamoProxyUsageStore(client, settings.domains_table),
        seal=_seal(settings),
        clock=utc_now,
        random=random.random,
    )


def rotating_fetcher(settings: ProxySettings, direct: GuardedFetcher) -> RotatingFetcher:
    """Return the fetcher of crawls, with or without proxies."""
    return RotatingFetcher(
        rotation=proxy_rotation(settings),
        direct=direct,
        through=direct.through,
        enabled=settings.features__enable_proxy_rotation,
    )


def proxy_trials(settings: ProxySettings) -> ProxyTrials:
    """Return the tester of proxies."""
    client = dynamodb_client()
    return ProxyTrials(
        store=DynamoProxyStore(client, settings.domains_table),
        rotation=proxy_rotation(settings),
        hosts=host_service(settings),
        pace=host_pace(settings),
        policy=address_policy(settings),
        through=_through(settings),
        clock=utc_now,
    )


def _seal(settings: ProxySettings) -> CredentialSeal:
    return CredentialSeal(KmsSealer(kms_client(), settings.secrets_key_id))


def _through(settings: ProxySettings) -> Callable[[Proxy], Fetcher]:
    """Return a factory of fetchers through proxies.

    The first call loads the fetcher, which takes longer than the rest of an API function.
    """
    policy = address_policy(settings)

    @cache
    def direct() -> GuardedFetcher:
        from spinneret.web.fetching.http import GuardedFetcher  # noqa: PLC0415 (see above)

        return GuardedFetcher(policy, resolve_by_system, user_agent=settings.user_agent)

    return lambda proxy: direct().through(proxy)
