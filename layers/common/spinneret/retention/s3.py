"""Bulk deletion of objects in S3."""

from collections.abc import Mapping, Sequence

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import translate_aws_errors


class S3ObjectStore(BucketAdapter):
    """Implements ObjectStore."""

    def delete(self, keys: Sequence[str]) -> Mapping[str, str]:
        """See ObjectStore; a bulk delete that succeeds may have failed for some of its keys."""
        with translate_aws_errors("s3"):
            answer = self._client.delete_objects(
                Bucket=self._bucket,
                Delete={"Objects": [{"Key": key} for key in dict.fromkeys(keys)], "Quiet": True},
            )
        return {each["Key"]: each.get("Code", "unknown") for each in answer.get("Errors", [])}
