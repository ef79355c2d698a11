"""Proxy configs on DynamoDB.

Domains table
    pk `T#<tenant>#PROXIES`, sk `<config id>`           the config with its servers, whose
                                                        credentials are sealed; lists by partition,
                                                        ordered by id, that is by time
    pk `T#<tenant>#PROXYNAMES`, sk `<name>`             id of the config with the name
    pk `T#<tenant>#PROXY#<config id>`, sk `USAGE#<version>`   picks, uses and failures
                                                        (dynamo_usage.py); separate, as every fetch
                                                        writes there

Config and name are rows of aws.named_rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spinneret.aws.codec import Codec, Column
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.kernel.paging import Page
from spinneret.web.proxies.models import ProxyConfig, ProxyServer

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoProxyStore:
    """Implements ProxyStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = NamedRows(
            client, table, "proxy config", CONFIGS, word="PROXY", words="PROXIES"
        )

    def add(self, config: ProxyConfig) -> None:
        self._rows.add(config)

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        return self._rows.get(tenant, config_id)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ProxyConfig]:
        """See ProxyStore: one query."""
        return self._rows.page(tenant, after, limit)

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        return self._rows.replace(former, config)

    def remove(self, config: ProxyConfig) -> bool:
        return self._rows.remove(config)


SERVERS: Final = Codec(ProxyServer, columns={"sealed_credentials": Column(attribute="credentials")})

CONFIGS: Final = Codec(
    ProxyConfig,
    keyed=KEYED,
    from_key=from_key,
    columns={
        "servers": Column(
            encode=lambda servers: [SERVERS.encode(each) for each in servers],
            decode=lambda stored: [SERVERS.decode(each) for each in stored],
        )
    },
)
