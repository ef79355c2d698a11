"""Removal of S3 objects at the age that the templates' lifecycle rules name, by `up` and `deploy`.

LocalStack runs no lifecycle rules. Only `ExpirationInDays` below a prefix is obeyed here; in a
bucket with versions, former versions stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any


def remove_expired(s3: Any, rules: Mapping[str, Sequence[Mapping[str, Any]]], now: datetime) -> int:
    """Remove all expired objects; return their number. `rules` has the rules of each bucket."""
    removed = 0
    for bucket, its_rules in rules.items():
        for rule in its_rules:
            if rule["Status"] == "Enabled" and "ExpirationInDays" in rule:
                for page in _expired(s3, bucket, rule, now):
                    s3.delete_objects(Bucket=bucket, Delete={"Objects": page, "Quiet": True})
                    removed += len(page)
    return removed


def _expired(
    s3: Any, bucket: str, rule: Mapping[str, Any], now: datetime
) -> Iterator[list[dict[str, str]]]:
    oldest = now - timedelta(days=rule["ExpirationInDays"])
    pages = s3.get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=rule.get("Prefix", "")):
        gone = [each for each in page.get("Contents", []) if each["LastModified"] < oldest]
        if gone:
            yield [{"Key": each["Key"]} for each in gone]
