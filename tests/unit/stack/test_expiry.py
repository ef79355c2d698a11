"""Objects of the local stack expire by the rules of their bucket's template."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from stack.expiry import remove_expired

NOW = datetime(2026, 11, 26, tzinfo=UTC)
WEEK = {"Status": "Enabled", "ExpirationInDays": 7}
RULES: dict[str, list[dict[str, Any]]] = {
    "media": [WEEK],
    "inbox": [{**WEEK, "Prefix": "parts/"}],
    "off": [{**WEEK, "Status": "Disabled"}],
    "uploads": [{"Status": "Enabled", "AbortIncompleteMultipartUpload": {}}],
}


class FakeS3:
    """S3 with objects of given ages, in days, by bucket and key."""

    def __init__(self, ages: dict[str, dict[str, float]]) -> None:
        self.ages = ages

    def get_paginator(self, _: str) -> "FakeS3":
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[Any]:  # noqa: N803 - boto3's
        for key, days in [*self.ages[Bucket].items()]:
            if key.startswith(Prefix):
                yield {"Contents": [{"Key": key, "LastModified": NOW - timedelta(days=days)}]}
        yield {}

    def delete_objects(self, *, Bucket: str, Delete: Any) -> None:  # noqa: N803 - boto3's
        for each in Delete["Objects"]:
            del self.ages[Bucket][each["Key"]]


def test_objects_are_removed_at_the_age_of_an_enabled_rule_and_only_below_its_prefix() -> None:
    s3 = FakeS3(
        {
            "media": {"T/a.png": 7.1, "T/b.png": 6.9},
            "inbox": {"parts/a": 8, "T/a": 80},
            "off": {"a": 80},
            "uploads": {"a": 80},
        }
    )
    assert remove_expired(s3, RULES, NOW) == 2
    assert (list(s3.ages["media"]), list(s3.ages["inbox"])) == (["T/b.png"], ["T/a"])
