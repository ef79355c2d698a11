"""A table that answers reads as DynamoDB may: those that don't ask for consistency, from the past.

Neither moto nor DynamoDB Local ever answers an old state: a forgotten `ConsistentRead` would show
in production only.
"""

from typing import Any


class LaggingTable:
    """Passes every call on to a client of plain values, but for eventually consistent reads.

    Those find nothing: the replica that answers them hasn't got the item yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def get_item(self, **request: Any) -> Any:
        """As a client's."""
        return self._client.get_item(**request) if request.get("ConsistentRead") else {}

    def batch_get_item(self, **request: Any) -> Any:
        """As a client's; each table asks for itself."""
        tables = request["RequestItems"]
        if all(each.get("ConsistentRead") for each in tables.values()):
            return self._client.batch_get_item(**request)
        return {"Responses": {name: [] for name in tables}, "UnprocessedKeys": {}}

    def query(self, **request: Any) -> Any:
        """As a client's."""
        if request.get("ConsistentRead"):
            return self._client.query(**request)
        return {"Items": [], "Count": 0, "ScannedCount": 0}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)
