"""Wire crawl configs."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import KmsSealer, kms_client
from spinneret.crawl.configs.dynamo import DynamoConfigStore
from spinneret.crawl.configs.service import ConfigService, HeaderSeal
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.web.proxies.service import ProxyService
from spinneret.web.proxies.wiring import ProxySettings


@dataclass(frozen=True, kw_only=True)
class ConfigSettings(ProxySettings):
    """Settings of the config table."""

    plans_table: str


def config_service(settings: ConfigSettings, proxies: ProxyService) -> ConfigService:
    """Build the config service of this stage."""
    return ConfigService(
        store=DynamoConfigStore(dynamodb_client(), settings.plans_table),
        seal=header_seal(settings),
        proxies=proxies,
        user_agent=settings.user_agent,
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def header_seal(settings: ProxySettings) -> HeaderSeal:
    """Build the header encryption with this stage's key."""
    return HeaderSeal(KmsSealer(kms_client(), settings.secrets_key_id))
