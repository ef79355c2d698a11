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

from typing import TYPE_CHECKING, Any

from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.web.proxies.models import ProxyConfig, ProxyServer, RotationStrategy

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoProxyStore:
    """Implements ProxyStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._rows = NamedItemTable(client, table, "proxy config", word="PROXY", words="PROXIES")

    def add(self, config: ProxyConfig) -> None:
        """See ProxyStore."""
        self._rows.add(_row(config))

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        """See ProxyStore."""
        row = self._rows.get(tenant, config_id)
        return None if row is None else _config(row)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ProxyConfig]:
        """See ProxyStore: one query."""
        rows, last = self._rows.page(tenant, after, limit)
        return Page(items=tuple(map(_config, rows)), after=last)

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        """See ProxyStore."""
        return self._rows.replace(_row(former), _row(config))

    def remove(self, config: ProxyConfig) -> bool:
        """See ProxyStore."""
        return self._rows.remove(_row(config))


def _row(config: ProxyConfig) -> NamedItem:
    return NamedItem(
        tenant=config.tenant,
        id=config.id,
        name=config.name,
        version=config.version,
        attributes={
            "servers": [_server_item(server) for server in config.servers],
            "strategy": config.strategy.value,
            "is_active": config.is_active,
            "created_at": to_iso(config.created_at),
            "updated_at": to_iso(config.updated_at),
        },
    )


def _server_item(server: ProxyServer) -> dict[str, Any]:
    sealed = server.sealed_credentials
    return {"url": server.url} if sealed is None else {"url": server.url, "credentials": sealed}


def _config(row: NamedItem) -> ProxyConfig:
    item = row.attributes
    return ProxyConfig(
        tenant=row.tenant,
        id=row.id,
        name=row.name,
        servers=tuple(
            ProxyServer(
                url=server["url"],
                sealed_credentials=bytes(server["credentials"])
                if "credentials" in server
                else None,
            )
            for server in item["servers"]
        ),
        strategy=RotationStrategy(item["strategy"]),
        is_active=item["is_active"],
        created_at=parse_stamp(item["created_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        version=row.version,
    )
