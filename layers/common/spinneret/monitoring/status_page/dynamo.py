"""Status pages on DynamoDB, in the table Targets.

pk `T#<tenant>#PAGE`, sk `PAGE`    a tenant's page
pk `SLUG#<slug>`, sk `SLUG`        the tenant of a slug: read for callers without a key,
                                   so the key can't begin with the tenant
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import Conflict
from spinneret.monitoring.status_page.models import StatusPage

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoStatusPageStore:
    """Implements StatusPageStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def get(self, tenant: str) -> StatusPage | None:
        """See StatusPageStore."""
        item = self._item(_page_key(tenant))
        return None if item is None else _page(tenant, item)

    def at(self, slug: str) -> StatusPage | None:
        """See StatusPageStore."""
        item = self._item(_slug_key(slug))
        page = None if item is None else self.get(item["tenant"])
        return page if page is not None and page.slug == slug else None

    def put(self, page: StatusPage, former: StatusPage | None) -> bool:
        """See StatusPageStore."""
        version = None if former is None else former.version
        item = {
            **_page_key(page.tenant),
            "slug": page.slug,
            "title": page.title,
            "updated_at": to_iso(page.updated_at),
            "version": page.version,
        }
        writes = [dynamo.put(self._table, item, dynamo.equals(version=version))]
        if former is None or former.slug != page.slug:
            slug = {**_slug_key(page.slug), "tenant": page.tenant}
            writes.append(dynamo.put(self._table, slug, ("attribute_not_exists(#pk)", {})))
            if former is not None:
                mine = dynamo.equals(tenant=page.tenant)
                writes.append(dynamo.delete(self._table, _slug_key(former.slug), mine))
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as error:
            if 0 in error.standing:
                return False
            raise Conflict("the slug is taken", details={"field": "slug"}) from error
        return True

    def remove(self, page: StatusPage) -> bool:
        """See StatusPageStore."""
        unchanged = dynamo.equals(version=page.version)
        mine = dynamo.equals(tenant=page.tenant)
        try:
            dynamo.transact(
                self._client,
                [
                    dynamo.delete(self._table, _page_key(page.tenant), unchanged),
                    dynamo.delete(self._table, _slug_key(page.slug), mine),
                ],
            )
        except dynamo.ConditionFailed:
            return False
        return True

    def _item(self, key: dict[str, str]) -> Any:
        with translate_aws_errors("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return answer.get("Item")


def _page_key(tenant: str) -> dict[str, str]:
    return {"pk": f"T#{tenant}#PAGE", "sk": "PAGE"}


def _slug_key(slug: str) -> dict[str, str]:
    return {"pk": f"SLUG#{slug}", "sk": "SLUG"}


def _page(tenant: str, item: Any) -> StatusPage:
    return StatusPage(
        tenant=tenant,
        slug=item["slug"],
        title=item["title"],
        updated_at=parse_stamp(item["updated_at"]),
        version=int(item["version"]),
    )
