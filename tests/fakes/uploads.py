"""Uploads in memory."""

from collections.abc import Mapping

from spinneret.access import limits
from spinneret.kernel.errors import BodyTooLarge


class FakeUploadStore:
    """Implements UploadStore; `post` acts as a client with a form."""

    def __init__(self) -> None:
        self._posted: dict[str, bytes] = {}

    def form(self, tenant: str, upload_id: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        return "https://uploads.example/", {"key": f"{tenant}/{upload_id}", "until": str(seconds)}

    def post(self, fields: Mapping[str, str], body: bytes) -> None:
        """Store a body of any size."""
        self._posted[fields["key"]] = body

    def read(self, tenant: str, upload_id: str) -> bytes | None:
        body = self._posted.get(f"{tenant}/{upload_id}")
        if body is not None and len(body) > limits.UPLOAD_MAX_BYTES:
            raise BodyTooLarge("too large")
        return body
