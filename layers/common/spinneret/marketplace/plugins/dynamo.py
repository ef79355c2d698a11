"""Plug-ins on DynamoDB.

Marketplace table
    pk `T#<tenant>#PLUGINS`, sk `<marketplace>#<connection id>`   a connected browser
    pk `T#<tenant>#ASKED`, sk the request's key (`key_of`)        a request that was sent: its time,
                                                                  its connections, fingerprints of
                                                                  its content, the browser that
                                                                  accepted it, and the answer
    pk `T#<tenant>#WAITING`, sk the request's key                 the token of the state that waits
                                                                  for the answer

`purge_at` is DynamoDB's TTL. A request is kept as long as its effect record: with only one of the
two, it would seem that no browser ever had it.
"""

import json
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import page_of
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs.keys import job_key
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds, parse_stamp, to_iso
from spinneret.marketplace import limits
from spinneret.marketplace.plugins.models import CallbackWait, Plugin, PluginAnswer, Sent

_SENT_THERE: Final = "contains(#sent_to, :from) AND #round = :round"
_KNOWN_THERE: Final = "#round = :round AND (contains(#sent_to, :from) OR #accepted_by = :browser)"
_NEXT_ROUND: Final = (
    "SET #round = #round + :one"
    " REMOVE #sent_at, #sent_to, #contents, #accepted_by, #accepted_at, #answer"
)
_THIS_ROUND: Final = "#round = :round"
_NOBODYS: Final = "attribute_not_exists(#accepted_by) AND attribute_not_exists(#answer)"
_ITS_OWN: Final = (
    "attribute_not_exists(#answer)"
    " AND (attribute_not_exists(#accepted_by) OR #accepted_by = :browser)"
)


class DynamoPluginStore(DynamoAdapter):
    """Implements PluginStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._plugins = Table(client, table, PLUGINS)
        self._jobs = jobs_table

    def connect(self, plugin: Plugin) -> None:
        self._plugins.put(plugin)

    def newest(self, tenant: str, marketplace: str) -> list[Plugin]:
        found = self._plugins.query_all(
            "pk = :pk AND begins_with(sk, :prefix)",
            {":pk": f"T#{tenant}#PLUGINS", ":prefix": f"{marketplace}#"},
            bounds.SUBSCRIBERS_PER_JOB,
        )
        return sorted(found, key=lambda plugin: plugin.connected_at, reverse=True)

    def gone(self, plugin: Plugin) -> None:
        self._plugins.delete(PLUGINS.key(plugin))

    def sent(self, tenant: str, key: str) -> Sent | None:
        found = dynamo.get(self._client, self._table, _asked(tenant, key))
        if "sent_at" not in found:
            return None
        answer: Any = json.loads(str(found["answer"])) if "answer" in found else None
        return Sent(
            number=int(found["round"]),
            sent_at=parse_stamp(str(found["sent_at"])),
            accepted_by=str(found["accepted_by"]) if "accepted_by" in found else None,
            accepted_at=parse_stamp(str(found["accepted_at"])) if "accepted_at" in found else None,
            answer=PluginAnswer(**answer) if answer else None,
            contents=frozenset(found.get("contents", ())),
        )

    def send(self, plugin: Plugin, key: str, content: str, now: datetime) -> int:
        change = (
            "SET #sent_at = if_not_exists(#sent_at, :now), #purge_at = :purge,"
            " #round = if_not_exists(#round, :zero) ADD #sent_to :to, #contents :content"
        )
        values = {
            ":now": to_iso(now),
            ":purge": epoch_seconds(now + timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS)),
            ":zero": 0,
            ":to": {plugin.connection_id},
            ":content": {content},
        }
        row = self._change(plugin.tenant, key, change, "", values)
        assert row is not None  # the update has no condition
        return int(row["round"])

    def begin_again(self, tenant: str, key: str, number: int) -> None:
        self._change(tenant, key, _NEXT_ROUND, _THIS_ROUND, {":round": number, ":one": 1})

    def withdraw(self, tenant: str, key: str, number: int) -> bool:
        condition, values = f"{_THIS_ROUND} AND {_NOBODYS}", {":round": number, ":one": 1}
        return self._change(tenant, key, _NEXT_ROUND, condition, values) is not None

    def accept(
        self, tenant: str, key: str, number: int, connection_id: str, browser: str, now: datetime
    ) -> bool:
        values = {
            ":browser": browser,
            ":from": connection_id,
            ":round": number,
            ":now": to_iso(now),
        }
        change = "SET #accepted_by = :browser, #accepted_at = if_not_exists(#accepted_at, :now)"
        condition = f"{_SENT_THERE} AND {_ITS_OWN}"
        return self._change(tenant, key, change, condition, values) is not None

    def wait(self, wait: CallbackWait, now: datetime) -> bool:
        end = now + timedelta(seconds=2 * limits.PLUGIN_TASK_SECONDS)
        item = {
            **_waiting(wait.ref.tenant, wait.key),
            "token": wait.token,
            "purge_at": epoch_seconds(end),
        }
        standing = dynamo.equals(status=JobStatus.PENDING, fence=wait.fence)
        writes = [
            dynamo.check(self._jobs, job_key(wait.ref), standing),
            dynamo.put(self._table, item),
        ]
        return dynamo.transact_if(self._client, writes)

    def waiting(self, tenant: str) -> list[str]:
        partition = f"T#{tenant}#WAITING"
        some = page_of(self._client, self._table, partition, None, limits.PLUGIN_WAITS_WOKEN)
        return [str(item["sk"]) for item in some.items]

    def token(self, tenant: str, key: str) -> str | None:
        found = dynamo.get(self._client, self._table, _waiting(tenant, key))
        return str(found["token"]) if found else None

    def take_token(self, tenant: str, key: str) -> str | None:
        found = dynamo.delete_item(self._client, self._table, _waiting(tenant, key))
        return str(found["token"]) if found else None

    def answer(
        self,
        tenant: str,
        key: str,
        number: int,
        connection_id: str,
        browser: str,
        answer: PluginAnswer,
    ) -> bool:
        text = json.dumps({"status": answer.status, "body": dict(answer.body)})
        change = "SET #answer = if_not_exists(#answer, :answer)"
        values = {
            ":answer": text,
            ":from": connection_id,
            ":browser": browser,
            ":round": number,
        }
        return self._change(tenant, key, change, _KNOWN_THERE, values) is not None

    def _change(
        self, tenant: str, key: str, change: str, condition: str, values: dict[str, Any]
    ) -> Item | None:
        """Return the row after the update; None if the condition fails."""
        return dynamo.update_if(
            self._client, self._table, _asked(tenant, key), change, values, condition
        )


def _purge_at(plugin: Plugin) -> Item:
    return {"purge_at": epoch_seconds(plugin.connected_at) + bounds.CONNECTION_SECONDS}


def _from_key(item: Item) -> Item:
    marketplace, _, connection_id = item["sk"].partition("#")
    return {
        "tenant": tenant_of(item),
        "marketplace": marketplace,
        "connection_id": connection_id,
    }


PLUGINS: Final = Codec(
    Plugin,
    key=lambda plugin: {
        "pk": f"T#{plugin.tenant}#PLUGINS",
        "sk": f"{plugin.marketplace}#{plugin.connection_id}",
    },
    keyed=("tenant", "marketplace", "connection_id"),
    from_key=_from_key,
    derived=_purge_at,
    upgrade=lambda item: {"browser": "", **item},  # rows of an earlier release lack it
)


def _asked(tenant: str, key: str) -> Item:
    return {"pk": f"T#{tenant}#ASKED", "sk": key}


def _waiting(tenant: str, key: str) -> Item:
    return {"pk": f"T#{tenant}#WAITING", "sk": key}
