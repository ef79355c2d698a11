"""Stored robots.txt files, in S3.

`DOMAIN/<host>/robots/<sha256 of the origin>`   the content; its metadata hold the times
"""

import hashlib
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from spinneret.aws.bucket import BucketAdapter
from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.web.politeness.robots_policy import StoredRobots


class S3RobotsStore(BucketAdapter):
    """Implements RobotsStore."""

    def find(self, origin: str) -> StoredRobots | None:
        try:
            with translate_aws_errors("s3"):
                answer = self._client.get_object(Bucket=self._bucket, Key=_key(origin))
                content = answer["Body"].read()
        except ClientError as error:
            if error_code(error) != "NoSuchKey":
                raise
            return None
        known = answer["Metadata"]
        return StoredRobots(
            check_at=parse_stamp(known["check-at"]),
            read_at=parse_stamp(known["read-at"]) if "read-at" in known else None,
            content=content,
            closed=known["closed"] == "true",
        )

    def keep(self, origin: str, kept: StoredRobots) -> None:
        known = {"check-at": to_iso(kept.check_at), "closed": str(kept.closed).lower()}
        if kept.read_at is not None:
            known["read-at"] = to_iso(kept.read_at)
        with translate_aws_errors("s3"):
            self._client.put_object(
                Bucket=self._bucket, Key=_key(origin), Body=kept.content, Metadata=known
            )


def _key(origin: str) -> str:
    digest = hashlib.sha256(origin.encode()).hexdigest()
    return f"DOMAIN/{urlsplit(origin).hostname}/robots/{digest}"
