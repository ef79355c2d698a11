"""Status pages on DynamoDB, in the table Targets.

pk `T#<tenant>#PAGE`, sk `PAGE`           a tenant's main page
pk `T#<tenant>#PAGE`, sk `PAGE#<slug>`    its other pages
pk `SLUG#<slug>`, sk `SLUG`               the tenant of a slug, and `page`, the sort key of another
                                          page: read for callers without a key, so the key can't
                                          begin with the tenant
"""

from dataclasses import replace
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.errors import Conflict
from spinneret.monitoring.status_page.models import StatusPage

_MAIN: Final = "PAGE"


class DynamoStatusPageStore(DynamoAdapter):
    """Implements StatusPageStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, STATUS_PAGES)

    def get(self, tenant: str) -> StatusPage | None:
        return self._rows.get(_page_key(tenant, _MAIN))

    def all(self, tenant: str) -> list[StatusPage]:
        return self._rows.query_all("pk = :pk", {":pk": _partition(tenant)})

    def at(self, slug: str) -> StatusPage | None:
        item = dynamo.get(self._client, self._table, _slug_key(slug))
        if not item:
            return None
        page = self._rows.get(_page_key(item["tenant"], item.get("page", _MAIN)))
        return page if page is not None and page.slug == slug else None

    def put(self, page: StatusPage, former: StatusPage | None) -> bool:
        version = None if former is None else former.version
        writes = [self._rows.put_write(page, dynamo.equals(version=version))]
        if former is None or former.slug != page.slug:
            slug = {**_slug_key(page.slug), "tenant": page.tenant}
            if not page.is_main:
                slug["page"] = _name_of(page)
            writes.append(dynamo.put(self._table, slug, dynamo.ABSENT))
            if former is not None:
                mine = dynamo.equals(tenant=page.tenant)
                writes.append(dynamo.delete(self._table, _slug_key(former.slug), mine))
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            if 0 in error.standing:
                return False
            raise Conflict.of_field("slug", "the slug is taken") from error
        return True

    def remove(self, page: StatusPage) -> bool:
        unchanged = dynamo.equals(version=page.version)
        mine = dynamo.equals(tenant=page.tenant)
        writes = [
            dynamo.delete(self._table, STATUS_PAGES.key(page), unchanged),
            dynamo.delete(self._table, _slug_key(page.slug), mine),
        ]
        return dynamo.transact_if(self._client, writes)


def _partition(tenant: str) -> str:
    return f"T#{tenant}#PAGE"


def _page_key(tenant: str, name: str) -> Item:
    return {"pk": _partition(tenant), "sk": name}


def _name_of(page: StatusPage) -> str:
    return _MAIN if page.is_main else f"{_MAIN}#{page.slug}"


def _slug_key(slug: str) -> Item:
    return {"pk": f"SLUG#{slug}", "sk": "SLUG"}


STATUS_PAGES: Final = Codec(
    StatusPage,
    key=lambda page: _page_key(page.tenant, _name_of(page)),
    keyed=("tenant", "is_main"),
    from_key=lambda item: {"tenant": tenant_of(item), "is_main": item["sk"] == _MAIN},
    columns={"groups": replace(JSON, sparse=True)},
)
