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

from spinneret.aws.codec import Codec, Column, from_attribute
from spinneret.aws.dynamo import Item
from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.kernel.paging import Page
from spinneret.web.proxies.models import ProxyConfig, ProxyServer

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
    named = {name: getattr(config, name) for name in _NAMED}
    return NamedItem(**named, attributes=CONFIGS.encode(config))


def _config(row: NamedItem) -> ProxyConfig:
    return CONFIGS.decode({**row.attributes, **{name: getattr(row, name) for name in _NAMED}})


def _server_item(server: ProxyServer) -> Item:
    sealed = server.sealed_credentials
    return {"url": server.url} if sealed is None else {"url": server.url, "credentials": sealed}


def _server(item: Item) -> Item:
    return {"url": item["url"], "sealed_credentials": from_attribute(item.get("credentials"))}


_NAMED: Final = ("tenant", "id", "name", "version")

CONFIGS: Final = Codec(
    ProxyConfig,
    key=lambda _: {},  # a NamedItem has it
    keyed=_NAMED,
    from_key=lambda item: {name: item[name] for name in _NAMED},
    columns={
        "servers": Column(
            encode=lambda servers: [_server_item(each) for each in servers],
            decode=lambda items: [_server(each) for each in items],
        )
    },
)
