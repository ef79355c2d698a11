"""Objects of a tenant in any bucket, and files of exports, on S3.

Keys have the tenant's name after a part `T`: `T/<tenant>/…`, `parts/T/<tenant>/…`. Exports are
`exports/T/<tenant>/<export id>/<area>-<number>.ndjson` in the content bucket, with their state in
`state.json`.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import S3Client
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.operations.tenants.models import Erased, Export

_STATE: Final = "state.json"


class BucketPlace(BucketAdapter):
    """Implements Place for a bucket, with all versions of its objects."""

    def __init__(self, client: S3Client, name: str, bucket: str) -> None:
        """`name` is for reports, `bucket` the real one."""
        super().__init__(client, bucket)
        self.name = name

    def erase(self, tenant: str, after: Any, remaining: Remaining) -> Erased:  # noqa: ARG002 - one page is bounded
        asked: dict[str, Any] = {} if after is None else after
        with translate_aws_errors("s3"):
            answer = self._client.list_object_versions(Bucket=self._bucket, **asked)
        own = [
            {"Key": each["Key"], "VersionId": each["VersionId"]}
            for each in (*answer.get("Versions", []), *answer.get("DeleteMarkers", []))
            if is_of(each["Key"], tenant)
        ]
        if own:
            self._delete(own)
        if not answer.get("IsTruncated"):
            return Erased(removed=len(own))
        position = {"KeyMarker": answer["NextKeyMarker"]}
        if "NextVersionIdMarker" in answer:
            position["VersionIdMarker"] = answer["NextVersionIdMarker"]
        return Erased(removed=len(own), after=position)

    def _delete(self, objects: list[Any]) -> None:
        with translate_aws_errors("s3"):
            answer = self._client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
            )
        if errors := answer.get("Errors"):
            raise DependencyUnavailable("s3", f"refused {len(errors)} deletions")


class S3ExportFiles(BucketAdapter):
    """Implements ExportFiles."""

    def state(self, tenant: str, export_id: str) -> Export:
        found = self._read(_folder(tenant, export_id) + _STATE)
        if found is None:
            return Export()
        stored = json.loads(found)
        return Export(**{**stored, "files": tuple(stored["files"])})

    def write(self, tenant: str, export_id: str, name: str, lines: Sequence[str]) -> str:
        key = _folder(tenant, export_id) + name
        text = "".join(f"{line}\n" for line in lines)
        self._put(key, text.encode(), "application/x-ndjson")
        return key

    def keep(self, tenant: str, export_id: str, state: Export) -> None:
        text = json.dumps(asdict(state))
        self._put(_folder(tenant, export_id) + _STATE, text.encode(), "application/json")

    def address(self, tenant: str, export_id: str) -> str:
        return f"s3://{self._bucket}/{_folder(tenant, export_id)}"


def is_of(key: str, tenant: str) -> bool:
    """Return whether an object with this key is the tenant's."""
    return f"/{key}".partition("/T/")[2].partition("/")[0] == tenant


def _folder(tenant: str, export_id: str) -> str:
    return f"exports/T/{tenant}/{export_id}/"
