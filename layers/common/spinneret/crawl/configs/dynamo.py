"""Crawl configs on DynamoDB: rows of the kind `config` (aws.named_rows), in CrawlDefinitions.

pk `T#<tenant>#CONFIGDEFAULT`, sk `DEFAULT`   the id of the tenant's default, written with the
                                              config that it names, in one transaction
"""

import json
from dataclasses import replace
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, Column, to_json
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.crawl.configs.models import Config
from spinneret.kernel.paging import Page

KIND: Final = "config"


class DynamoConfigStore(DynamoAdapter):
    """Implements ConfigStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = NamedRows(client, table, KIND, CONFIGS)

    def add(self, config: Config) -> None:
        self._rows.add(config, *self._pointing(None, config))

    def get(self, tenant: str, config_id: str) -> Config | None:
        config = self._rows.get(tenant, config_id)
        return config and _marked(config, self._default_id(tenant))

    def default(self, tenant: str) -> Config | None:
        default = self._default_id(tenant)
        config = None if default is None else self._rows.get(tenant, default)
        return config and _marked(config, default)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        page = self._rows.page(tenant, after, limit)
        default = self._default_id(tenant) if page.items else None
        return page.map(lambda config: _marked(config, default))

    def replace(self, former: Config, config: Config) -> bool:
        return self._rows.replace(former, config, *self._pointing(former, config))

    def remove(self, config: Config) -> bool:
        gone = replace(config, is_default=False)
        return self._rows.remove(config, (), *self._pointing(config, gone))

    def _pointing(self, former: Config | None, config: Config) -> list[TransactWriteItemTypeDef]:
        """Build the write of the tenant's default that accompanies the write of a config."""
        key = _default_key(config.tenant)
        if config.is_default:
            return [dynamo.put(self._table, {**key, "config_id": config.id})]
        if former is not None and former.is_default:
            return [dynamo.delete(self._table, key, dynamo.equals(config_id=config.id))]
        return []

    def _default_id(self, tenant: str) -> str | None:
        item = dynamo.get(self._client, self._table, _default_key(tenant))
        return str(item["config_id"]) if item else None


def _default_key(tenant: str) -> dict[str, str]:
    return {"pk": f"T#{tenant}#CONFIGDEFAULT", "sk": "DEFAULT"}


def _marked(config: Config, default_id: str | None) -> Config:
    return replace(config, is_default=config.id == default_id)


def _json(value: Any) -> str:
    return json.dumps(to_json(value))


_JSON: Final = Column(encode=_json, decode=json.loads)

CONFIGS: Final = Codec(
    Config,
    keyed=(*KEYED, "is_default"),
    from_key=from_key,
    columns={"options": _JSON, "shown_headers": _JSON},
)
