"""Progress of waiting fetches on DynamoDB.

Domains table
    pk `T#<tenant>#FETCH#<caller id>`, sk `<sha256 of the requested URL>`
        url and left (URLs in order) of a fetch that waits for a host after a redirect; the
        next attempt reads it with GetItem

`purge_at` (epoch seconds) is the end of its use and DynamoDB's TTL attribute. All writes are
updates, because fetching functions have no other write permission on this table. A dropped row
stays as an empty item until it is purged.
"""

import hashlib
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.table import DynamoAdapter
from spinneret.web import limits
from spinneret.web.fetching.urls import Url, parse_url
from spinneret.web.models import Caller, RedirectProgress

_KEEP: Final = "SET #url = :url, #left = :left, #purge_at = :purge_at"
_DROP: Final = "REMOVE #url, #left"


class DynamoProgressStore(DynamoAdapter):
    """Implements ProgressStore; see the module's docstring for the key design."""

    def find(self, caller: Caller, requested: Url, now: datetime) -> RedirectProgress | None:
        item = dynamo.get(self._client, self._table, _key(caller, requested))
        if "url" not in item or int(item["purge_at"]) <= now.timestamp():
            return None
        left = tuple(parse_url(text) for text in item["left"])
        return RedirectProgress(left=left, url=parse_url(item["url"]))

    def keep(self, caller: Caller, progress: RedirectProgress, now: datetime) -> None:
        values = {
            ":url": progress.url.text,
            ":left": [url.text for url in progress.left],
            ":purge_at": int(now.timestamp()) + limits.REDIRECTS_KEPT_SECONDS,
        }
        key = _key(caller, progress.left[0])
        dynamo.update_item(self._client, self._table, key, _KEEP, values)

    def drop(self, caller: Caller, requested: Url) -> None:
        dynamo.update_item(self._client, self._table, _key(caller, requested), _DROP, {})


def _key(caller: Caller, requested: Url) -> dict[str, str]:
    digest = hashlib.sha256(requested.text.encode()).hexdigest()
    return {"pk": f"T#{caller.tenant}#FETCH#{caller.id}", "sk": digest}
