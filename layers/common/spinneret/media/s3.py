"""Objects of media jobs in a bucket of their own, whose lifecycle rule removes them.

`T/<tenant>/<job id>.<suffix>`              output of a job: a retry writes the same object again
`T/<tenant>/scripts/<scripts id>.json`      scripts that a job will run
"""

import json
from collections.abc import Sequence

from spinneret.aws.bucket import BucketAdapter
from spinneret.jobs.models import JobRef
from spinneret.media.models import MEDIA_TYPES


class S3MediaStore(BucketAdapter):
    """Implements MediaStore."""

    def keep(self, ref: JobRef, media_type: str, body: bytes) -> str:
        key = f"T/{ref.tenant}/{ref.job_id}{MEDIA_TYPES[media_type]}"
        self._put(key, body, media_type)
        return key

    def link(self, key: str, seconds: int) -> str:
        """See MediaStore; sends no request."""
        return self._link(key, seconds)

    def keep_scripts(self, tenant: str, scripts_id: str, sources: Sequence[str]) -> None:
        body = json.dumps(list(sources), ensure_ascii=False).encode()
        self._put(_scripts_key(tenant, scripts_id), body, "application/json")

    def scripts(self, tenant: str, scripts_id: str) -> tuple[str, ...] | None:
        found = self._read(_scripts_key(tenant, scripts_id))
        return None if found is None else tuple(json.loads(found))


def _scripts_key(tenant: str, scripts_id: str) -> str:
    return f"T/{tenant}/scripts/{scripts_id}.json"
