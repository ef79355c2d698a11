"""Build the services of proxies."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from spinneret.aws.stage import SECRETS_KEY_ID, Stage
from spinneret.kernel.settings import flag
from spinneret.web.fetching.models import Proxy
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import USER_AGENT, address_policy
from spinneret.web.hosts.wiring import DOMAINS_TABLE, HOSTS, host_pace, host_service
from spinneret.web.proxies.dynamo import DynamoProxyStore
from spinneret.web.proxies.dynamo_usage import DynamoProxyUsageStore
from spinneret.web.proxies.rotation import ProxyRotation, RotatingFetcher
from spinneret.web.proxies.service import CredentialSeal, ProxyService
from spinneret.web.proxies.trials import ProxyTrials

if TYPE_CHECKING:
    from spinneret.web.fetching.http import GuardedFetcher

ENABLED: Final = flag("FEATURES__ENABLE_PROXY_ROTATION", default=False)
"""Whether crawls may use proxies."""
PROXIES: Final = (*HOSTS, SECRETS_KEY_ID, ENABLED)
TRIALS: Final = (*PROXIES, USER_AGENT)


def proxy_service(stage: Stage) -> ProxyService:
    """Return the proxy configs of this stage."""
    return ProxyService(
        store=DynamoProxyStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        usage=DynamoProxyUsageStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        seal=CredentialSeal(sealer=stage.sealer),
        policy=address_policy(stage),
        clock=stage.clock,
        new_id=stage.new_id,
        enabled=stage[ENABLED],
    )


def proxy_rotation(stage: Stage) -> ProxyRotation:
    """Return the rotation, which all workers share."""
    return ProxyRotation(
        store=DynamoProxyStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        usage=DynamoProxyUsageStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        seal=CredentialSeal(sealer=stage.sealer),
        clock=stage.clock,
        random=random.random,
    )


def rotating_fetcher(stage: Stage, direct: GuardedFetcher) -> RotatingFetcher:
    """Return the fetcher of crawls, with or without proxies."""
    return RotatingFetcher(
        rotation=proxy_rotation(stage),
        direct=direct,
        through=direct.through,
        enabled=stage[ENABLED],
    )


def proxy_trials(stage: Stage) -> ProxyTrials:
    """Return the tester of proxies."""
    return ProxyTrials(
        store=DynamoProxyStore(stage.dynamodb, stage[DOMAINS_TABLE]),
        rotation=proxy_rotation(stage),
        hosts=host_service(stage),
        pace=host_pace(stage),
        policy=address_policy(stage),
        through=_through(stage),
        clock=stage.clock,
    )


def _through(stage: Stage) -> Callable[[Proxy], Fetcher]:
    """Return a factory of fetchers through proxies.

    The first call loads the fetcher, which takes longer than the rest of an API function.
    """

    policy, user_agent = address_policy(stage), stage[USER_AGENT]

    @cache
    def direct() -> GuardedFetcher:
        from spinneret.web.fetching.http import GuardedFetcher  # noqa: PLC0415 (see above)

        return GuardedFetcher(policy, resolve_by_system, user_agent=user_agent)

    return lambda proxy: direct().through(proxy)
