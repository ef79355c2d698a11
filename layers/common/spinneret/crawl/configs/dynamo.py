"""Crawl configs on DynamoDB: rows of the kind `config` in the table Plans (aws.named_rows).

pk `T#<tenant>#CONFIGDEFAULT`, sk `DEFAULT`   the id of the tenant's default, written with the
                                              config that it names, in one transaction
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.crawl.configs.models import Config, options_item, read_options
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.paging import Page

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

KIND: Final = "config"


class DynamoConfigStore:
    """Implements ConfigStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table
        self._rows = NamedItemTable(client, table, KIND)

    def add(self, config: Config) -> None:
        """See ConfigStore."""
        self._rows.add(_row(config), *self._pointing(None, config))

    def get(self, tenant: str, config_id: str) -> Config | None:
        """See ConfigStore."""
        row = self._rows.get(tenant, config_id)
        return None if row is None else _config(row, self._default_id(tenant))

    def default(self, tenant: str) -> Config | None:
        """See ConfigStore."""
        default = self._default_id(tenant)
        row = None if default is None else self._rows.get(tenant, default)
        return None if row is None else _config(row, default)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        """See ConfigStore."""
        rows, last = self._rows.page(tenant, after, limit)
        default = self._default_id(tenant) if rows else None
        return Page(items=tuple(_config(row, default) for row in rows), after=last)

    def replace(self, former: Config, config: Config) -> bool:
        """See ConfigStore."""
        return self._rows.replace(_row(former), _row(config), *self._pointing(former, config))

    def remove(self, config: Config) -> bool:
        """See ConfigStore."""
        gone = replace(config, is_default=False)
        return self._rows.remove(_row(config), (), *self._pointing(config, gone))

    def _pointing(self, former: Config | None, config: Config) -> list[TransactWriteItemTypeDef]:
        """Build the write of the tenant's default that accompanies the write of a config."""
        key = _default_key(config.tenant)
        if config.is_default:
            return [dynamo.put(self._table, {**key, "config_id": config.id})]
        if former is not None and former.is_default:
            return [dynamo.delete(self._table, key, dynamo.equals(config_id=config.id))]
        return []

    def _default_id(self, tenant: str) -> str | None:
        with translate_aws_errors("dynamodb"):
            answer = self._client.get_item(
                TableName=self._table, Key=_default_key(tenant), ConsistentRead=True
            )
        item = answer.get("Item")
        return str(item["config_id"]) if item else None


def _default_key(tenant: str) -> dict[str, str]:
    return {"pk": f"T#{tenant}#CONFIGDEFAULT", "sk": "DEFAULT"}


def _row(config: Config) -> NamedItem:
    sealed = {} if config.sealed_headers is None else {"sealed_headers": config.sealed_headers}
    return NamedItem(
        tenant=config.tenant,
        id=config.id,
        name=config.name,
        version=config.version,
        attributes={
            "options": json.dumps(options_item(config.options)),
            "shown_headers": json.dumps(dict(config.shown_headers)),
            **sealed,
            "created_at": to_iso(config.created_at),
            "updated_at": to_iso(config.updated_at),
        },
    )


def _config(row: NamedItem, default_id: str | None) -> Config:
    sealed = row.attributes.get("sealed_headers")
    return Config(
        tenant=row.tenant,
        id=row.id,
        name=row.name,
        options=read_options(json.loads(row.attributes["options"])),
        shown_headers=json.loads(row.attributes["shown_headers"]),
        sealed_headers=None if sealed is None else bytes(sealed),
        is_default=row.id == default_id,
        created_at=parse_stamp(row.attributes["created_at"]),
        updated_at=parse_stamp(row.attributes["updated_at"]),
        version=row.version,
    )
