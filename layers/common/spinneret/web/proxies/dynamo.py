"""Proxy configs on DynamoDB.

Domains table
    pk `T#<tenant>#PROXIES`, sk `<config id>`           the config with its servers, whose
                                                        credentials are sealed; lists by partition,
                                                        order of ids, which is by time
    pk `T#<tenant>#PROXYNAMES`, sk `<name>`             which config has the name
    pk `T#<tenant>#PROXY#<config id>`, sk `USAGE#<version>`   picks, uses and failures
                                                        (dynamo_usage.py); apart, as every fetch
                                                        writes there

Config and name are written in one transaction, whose condition is the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id
from spinneret.web.proxies.models import ProxyConfig, ProxyPage, ProxyServer, RotationStrategy

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})


class DynamoProxyStore:
    """Implements ProxyStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def add(self, config: ProxyConfig) -> None:
        """See ProxyStore."""
        writes = [dynamo.put(self._table, _item(config), _NEW), self._take_name(config)]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            raise _taken() from error

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        """See ProxyStore."""
        if not is_id(config_id):
            return None
        with translated("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=_key(tenant, config_id), ConsistentRead=True
            )
        item = answer.get("Item")
        return _config(tenant, item) if item else None

    def page(self, tenant: str, after: str | None, limit: int) -> ProxyPage:
        """See ProxyStore: one query."""
        found, last = dynamo.newest_first(
            self._client, self._table, _partition(tenant), after, limit
        )
        return ProxyPage(configs=tuple(_config(tenant, item) for item in found), after=last)

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        """See ProxyStore."""
        unchanged = dynamo.equals(version=former.version)
        writes = [dynamo.put(self._table, _item(config), unchanged)]
        if config.name != former.name:
            writes += [self._take_name(config), self._free_name(former)]
        return self._write(writes)

    def remove(self, config: ProxyConfig) -> bool:
        """See ProxyStore."""
        unchanged = dynamo.equals(version=config.version)
        key = _key(config.tenant, config.id)
        return self._write([dynamo.delete(self._table, key, unchanged), self._free_name(config)])

    def _write(self, writes: list[TransactWriteItemTypeDef]) -> bool:
        """False if the config, which is the first write, isn't as it was read."""
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            if 0 in error.standing:
                return False
            raise _taken() from error
        return True

    def _take_name(self, config: ProxyConfig) -> TransactWriteItemTypeDef:
        item = {**_name_key(config), "config_id": config.id}
        return dynamo.put(self._table, item, _NEW)

    def _free_name(self, config: ProxyConfig) -> TransactWriteItemTypeDef:
        return dynamo.delete(self._table, _name_key(config), dynamo.equals(config_id=config.id))


def _partition(tenant: str) -> str:
    return f"T#{tenant}#PROXIES"


def _key(tenant: str, config_id: str) -> dict[str, str]:
    return {"pk": _partition(tenant), "sk": config_id}


def _name_key(config: ProxyConfig) -> dict[str, str]:
    return {"pk": f"T#{config.tenant}#PROXYNAMES", "sk": config.name}


def _item(config: ProxyConfig) -> dict[str, Any]:
    return {
        **_key(config.tenant, config.id),
        "name": config.name,
        "servers": [_server_item(server) for server in config.servers],
        "strategy": config.strategy.value,
        "is_active": config.is_active,
        "created_at": stamp(config.created_at),
        "updated_at": stamp(config.updated_at),
        "version": config.version,
    }


def _server_item(server: ProxyServer) -> dict[str, Any]:
    sealed = server.sealed_credentials
    return {"url": server.url} if sealed is None else {"url": server.url, "credentials": sealed}


def _config(tenant: str, item: Mapping[str, Any]) -> ProxyConfig:
    return ProxyConfig(
        tenant=tenant,
        id=item["sk"],
        name=item["name"],
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
        version=int(item["version"]),
    )


def _taken() -> Conflict:
    return Conflict("another proxy config has this name", details={"field": "name"})
