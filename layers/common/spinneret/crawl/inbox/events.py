"""Events of the inbox's bucket."""

from collections.abc import Mapping
from typing import Any

from spinneret.crawl.inbox.service import InboxIngest
from spinneret.kernel.clock import Remaining


class S3EventHandler:
    """Handles the event of a created object.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
    """

    def __init__(self, arrivals: InboxIngest) -> None:
        self._arrivals = arrivals

    def __call__(self, event: Mapping[str, Any], _: Remaining) -> dict[str, str | None]:
        """Submit the object's job; return its id."""
        created = event["detail"]["object"]
        return {"job_id": self._arrivals(created["key"], created["version-id"])}
