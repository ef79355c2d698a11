"""A table whose eventually consistent reads return old state, as DynamoDB's may.

moto and DynamoDB Local never return old state, so a missing `ConsistentRead` would fail only in
production.
"""

from typing import Any


class LaggingTable:
    """A client that forwards all calls to another client, except eventually consistent reads.

    Those reads find nothing, as if the replica that answers them didn't have the item yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def get_item(self, **request: Any) -> Any:
        """Read the item if the request is consistent; return none otherwise."""
        return self._client.get_item(**request) if request.get("ConsistentRead") else {}

    def batch_get_item(self, **request: Any) -> Any:
        """Read the items if the request is consistent for all tables; return none otherwise."""
        tables = request["RequestItems"]
        if all(each.get("ConsistentRead") for each in tables.values()):
            return self._client.batch_get_item(**request)
        return {"Responses": {name: [] for name in tables}, "UnprocessedKeys": {}}

    def query(self, **request: Any) -> Any:
        """Query the table if the request is consistent; return no items otherwise."""
        if request.get("ConsistentRead"):
            return self._client.query(**request)
        return {"Items": [], "Count": 0, "ScannedCount": 0}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)
