"""Crawl configs."""

from spinneret.crawl.configs.dynamo import DynamoConfigStore
from spinneret.crawl.configs.models import Config, ConfigOptions
from spinneret.kernel.paging import Page
from tests.fakes.time import START

TABLES = ("CrawlDefinitions",)
STORE = DynamoConfigStore


def page_of(rows: tuple[Config, ...], after: str | None) -> Page[Config]:
    return Page(items=rows, after=after)


def row(tenant: str, row_id: str, name: str) -> Config:
    return Config(
        tenant=tenant,
        id=row_id,
        name=name,
        options=ConfigOptions(rate_limit_rps=0.25, proxy_config_id="proxy_1"),
        shown_headers={"Authorization": "[REDACTED]"},
        sealed_headers=b"\x00sealed",
        created_at=START,
        updated_at=START,
    )
