"""The restoration of docs/runbook.md on the local stage: rows, objects, then the index.

DynamoDB Local can't restore a table to a point in time, so the test copies rows instead.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

import httpx
import pytest

from tests.conftest import Aws
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.test_documents import DOCUMENTS, stored

pytestmark = [pytest.mark.stack, pytest.mark.alone, pytest.mark.proof]

TEXTS: Final = ("Felt is made of wool and water.", "Lace is made with bobbins.")


# covers P-14
def test_what_was_deleted_is_as_before_after_the_restoration(
    tenant: Tenant, deployed: Deployed, aws: Aws, dynamodb: Any
) -> None:
    table, bucket = deployed.outputs["DocumentsTable"], deployed.outputs["ContentBucket"]
    ids = [stored(tenant, content=text) for text in TEXTS]
    before, rows = answers(tenant, ids), rows_of(dynamodb, table, tenant)
    for row in rows:
        dynamodb.delete_item(TableName=table, Key={"pk": row["pk"]})
    s3, prefix = aws("s3"), f"T/{tenant.name}/"
    for each in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]:
        s3.delete_object(Bucket=bucket, Key=each["Key"])
    url = deployed.stack.opensearch_url
    for name in httpx.get(f"{url}/chunks-*/_alias", trust_env=False, timeout=40).json():
        httpx.delete(f"{url}/{name}", trust_env=False, timeout=40).raise_for_status()
    assert tenant("GET", f"{DOCUMENTS}/{ids[0]}").status_code == 404

    for row in rows:
        dynamodb.put_item(TableName=table, Item=row)
    found = s3.list_object_versions(Bucket=bucket, Prefix=prefix)
    for each in found["DeleteMarkers"]:
        if each["IsLatest"]:
            s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])
    rebuilt = deployed.stack.command("rebuild-index")
    assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr  # 1 if a text is missing
    report = reconciled(deployed)
    mine = [each for each in report["lost"] + report["without_row"] if tenant.name in each]
    assert mine == []
    assert answers(tenant, ids) == before


def answers(tenant: Tenant, ids: Sequence[str]) -> list[Any]:
    """Return the documents with their texts, and the results of searches."""
    shown = [tenant("GET", f"{DOCUMENTS}/{each}") for each in ids]
    assert {each.status_code for each in shown} == {200}
    links = [tenant("GET", f"{DOCUMENTS}/{each}/markdown").json()["url"] for each in ids]
    texts = [httpx.get(each, trust_env=False, timeout=40).text for each in links]
    hits = [[hit["document_id"] for hit in tenant.search(text)] for text in TEXTS]
    return [[each.json() for each in shown], texts, hits]


def rows_of(dynamodb: Any, table: str, tenant: Tenant) -> list[dict[str, Any]]:
    """Return all rows of a tenant."""
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table,
        FilterExpression="begins_with(pk, :tenant)",
        ExpressionAttributeValues={":tenant": f"T#{tenant.name}#"},
    )
    return [row for page in pages for row in page["Items"]]


def reconciled(deployed: Deployed) -> dict[str, Any]:
    """Run the pass over rows, bodies and index; return its report."""
    client = deployed.aws("lambda")
    answer = client.invoke(FunctionName=deployed.resources["Reconcile"], Payload=b"{}")
    report: dict[str, Any] = json.loads(answer["Payload"].read())
    assert report["complete"], report
    return report
