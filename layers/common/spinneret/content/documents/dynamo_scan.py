"""Scan of all tenants' documents on DynamoDB; `documents.dynamo` defines the documents table.

pk `UPKEEP#<task>`   scan position and current owner of a maintenance task. It has no tenant,
                     since a pass covers all tenants
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import DynamoDBClient
from spinneret.content.documents import keys
from spinneret.content.documents.items import bare_lease_of, documents_of
from spinneret.content.documents.models import (
    ScanCheckpoint,
    ScanPage,
    StoredBody,
    StoredPart,
    UnusedBody,
)
from spinneret.kernel.clock import epoch_seconds, parse_stamp


class DynamoDocumentScan:
    """Implements DocumentScan."""

    def __init__(self, client: DynamoDBClient, documents_table: str) -> None:
        self._client = client
        self._documents = documents_table

    def scan(self, after: Mapping[str, Any] | None, limit: int) -> ScanPage:
        asked: dict[str, Any] = {"ExclusiveStartKey": dict(after)} if after else {}
        with translate_aws_errors("dynamodb"):
            answer = self._client.scan(TableName=self._documents, Limit=limit, **asked)
        items = answer["Items"]
        return ScanPage(
            documents=tuple(documents_of(items)),
            bodies=tuple(
                UnusedBody(
                    tenant=str(item["tenant"]),
                    key=str(item["key"]),
                    since=parse_stamp(str(item["counted_at"])),
                )
                for item in items
                if "counted_at" in item and int(str(item["number"])) <= 0
            ),
            leases=tuple(filter(None, map(bare_lease_of, items))),
            after=answer.get("LastEvaluatedKey"),
        )

    def unreferenced_bodies(self, bodies: Sequence[StoredBody]) -> list[StoredBody]:
        """See DocumentScan; sends one BatchGetItem per 100 keys."""
        rows = {keys.body_row(each.tenant, each.key)["pk"]: each for each in bodies}
        found = dynamo.batch_get(
            self._client, self._documents, [{"pk": each} for each in rows], ("pk",)
        )
        counted = {str(item["pk"]) for item in found}
        return [each for key, each in rows.items() if key not in counted]

    def unnamed(self, parts: Sequence[StoredPart]) -> list[StoredPart]:
        """See DocumentScan; sends one BatchGetItem per 100 keys."""
        wanted = {(each.tenant, each.document_id) for each in parts}
        rows = [keys.document_key(*each) for each in sorted(wanted)]
        found = dynamo.batch_get(self._client, self._documents, rows, ("origin",))
        named = {json.loads(item["origin"])["parts_key"] for item in found if "origin" in item}
        return [each for each in parts if each.key not in named]

    def forget_body(self, body: UnusedBody) -> bool:
        answer = dynamo.write_if(
            self._client.delete_item,
            TableName=self._documents,
            Key=keys.body_row(body.tenant, body.key),
            ConditionExpression="#number <= :none",
            ExpressionAttributeNames={"#number": "number"},
            ExpressionAttributeValues={":none": 0},
        )
        return answer is not None

    def place(self, task: str, owner: str, now: datetime, until: datetime) -> ScanCheckpoint | None:
        row = dynamo.update_if(
            self._client,
            self._documents,
            {"pk": f"UPKEEP#{task}"},
            "SET #owner = :owner, #held_until = :until",
            {":owner": owner, ":now": epoch_seconds(now), ":until": epoch_seconds(until)},
            "attribute_not_exists(#pk) OR #held_until <= :now OR #owner = :owner",
        )
        return None if row is None else ScanCheckpoint(**json.loads(row.get("place", "{}")))

    def keep_place(self, task: str, owner: str, place: ScanCheckpoint, *, release: bool) -> bool:
        update = "SET #place = :place" + (", #held_until = :now" if release else "")
        values: dict[str, Any] = {":place": json.dumps(vars(place)), ":owner": owner}
        if release:
            values[":now"] = 0
        row, is_own = {"pk": f"UPKEEP#{task}"}, "#owner = :owner"
        kept = dynamo.update_if(self._client, self._documents, row, update, values, is_own)
        return kept is not None
