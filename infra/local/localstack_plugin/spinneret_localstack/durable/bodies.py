"""Bodies of S3 objects as files, written before the request is answered.

LocalStack keeps bodies in temporary files without a name. Here each body is also a file named by
the hash of its key and version; one that isn't in memory is read from it. Parts of an unfinished
multipart upload aren't kept.
"""

import hashlib
import shutil
from pathlib import Path
from typing import Any, Literal

from localstack.services.s3.models import S3Object
from localstack.services.s3.provider import S3Provider
from localstack.services.s3.storage.ephemeral import (
    S3_MAX_FILE_SIZE_BYTES,
    EphemeralS3ObjectStore,
    EphemeralS3StoredObject,
    LockedSpooledTemporaryFile,
)
from localstack.utils.patch import patch

CODE_BUCKETS = "awslambda-"
"""Beginning of the names of LocalStack's own buckets, which hold the functions' code."""


class KeptBodies(EphemeralS3ObjectStore):
    """The store of bodies; `root_directory` holds a folder for each bucket."""

    def open(
        self, bucket: str, s3_object: S3Object, mode: Literal["r", "w"] = "r"
    ) -> EphemeralS3StoredObject:
        if bucket.startswith(CODE_BUCKETS):
            return super().open(bucket, s3_object, mode)
        path = self._path(bucket, s3_object)
        key = self._key_from_s3_object(s3_object)
        file = self._get_object_file(bucket, key)
        if file is None:
            file = _file_of(path, s3_object)
            self._filesystem[bucket]["keys"][key] = file
        return _KeptObject(s3_object, file, mode, path)

    def remove(self, bucket: str, s3_object: S3Object | list[S3Object]) -> None:
        super().remove(bucket, s3_object)
        for each in s3_object if isinstance(s3_object, list) else [s3_object]:
            self._path(bucket, each).unlink(missing_ok=True)

    def delete_bucket(self, bucket: str) -> None:
        super().delete_bucket(bucket)
        shutil.rmtree(Path(self.root_directory, bucket), ignore_errors=True)

    def _path(self, bucket: str, s3_object: S3Object) -> Path:
        name = f"{s3_object.key}?{s3_object.version_id or 'null'}"
        return Path(self.root_directory, bucket, hashlib.sha256(name.encode()).hexdigest())


class _KeptObject(EphemeralS3StoredObject):
    """A body that is written to its file when a writer closes it."""

    def __init__(
        self,
        s3_object: S3Object,
        file: LockedSpooledTemporaryFile,
        mode: Literal["r", "w"],
        path: Path,
    ) -> None:
        super().__init__(s3_object, file, mode)
        self._path = path

    def close(self) -> None:
        try:
            # A rejected body has been removed, and its file is closed, before its writer is.
            if self._mode == "w" and not self.closed and not self.file.closed:
                self._keep()
        finally:
            super().close()

    def _keep(self) -> None:
        draft = self._path.with_name(f"{self._path.name}.new")
        with self.file.position_lock, draft.open("wb") as target:
            self.file.seek(0)
            shutil.copyfileobj(self.file, target)
        draft.replace(self._path)


def _file_of(path: Path, s3_object: S3Object) -> LockedSpooledTemporaryFile:
    """Return the body in memory: the kept one, or an empty one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = LockedSpooledTemporaryFile(dir=path.parent, max_size=S3_MAX_FILE_SIZE_BYTES)
    if path.exists():
        with path.open("rb") as source:
            shutil.copyfileobj(source, file)
        # Readers compare it, to notice a body that was replaced meanwhile.
        file.internal_last_modified = s3_object.internal_last_modified
    return file


def install(folder: Path) -> None:
    """Let S3 keep its bodies in the folder."""
    folder.mkdir(parents=True, exist_ok=True)

    @patch(S3Provider.__init__)
    def __init__(original: Any, provider: S3Provider) -> None:  # noqa: N807
        original(provider, KeptBodies(str(folder)))
