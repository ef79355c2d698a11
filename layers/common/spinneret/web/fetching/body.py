"""Read the body of a response within the bounds of its request."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from io import BytesIO
from typing import Final

import httpcore

from spinneret.kernel.errors import BodyTooLarge, ContentRefused, DomainError
from spinneret.kernel.service import service
from spinneret.web.fetching.connection import Deadline
from spinneret.web.fetching.content_type import SNIFF_BYTES, parse_content_type, sniff_media_type
from spinneret.web.fetching.decoding import decode, parse_content_encoding
from spinneret.web.fetching.head import declared_length
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.urls import Url

BROKEN: Final = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)
_WITHOUT_CONTENT: Final = frozenset(
    {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT, HTTPStatus.NOT_MODIFIED}
)


@service
class BodyReader:
    """Reads one response's body; `headers` have names in lower case."""

    request: FetchRequest
    deadline: Deadline
    response: httpcore.Response
    headers: Mapping[str, str]

    def read(self, url: Url) -> tuple[str, str | None, bytes]:
        """Return media type, charset as declared, and body; media type and body may be empty.

        `url` is the response's. Raises ContentRefused, BodyTooLarge, FetchFailed, FetchTimeout and
        what httpcore raises.
        """
        media_type, charset = parse_content_type(self.headers.get("content-type", ""))
        status = self.response.status
        if self.request.excerpt_bytes is not None:
            return media_type, charset, self._excerpt(self.request.excerpt_bytes)
        if status in _WITHOUT_CONTENT or not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return media_type, charset, b""
        if media_type:
            self._check(media_type)
        if self.request.method == "HEAD":
            return media_type, charset, b""
        if self.request.read_body is not None:
            self.request.read_body(url, self._decoded())
            return media_type, charset, b""
        media_type, body = self._content(media_type)
        return media_type, charset, body

    def _excerpt(self, limit: int) -> bytes:
        """Return at most `limit` bytes; an error only ends the body, since the head suffices."""
        body = b""
        forgiven = () if self.request.excerpt_is_vital else (DomainError, OSError, *BROKEN)
        with suppress(*forgiven):
            pieces = self._decoded()
            while len(body) < limit and (piece := next(pieces, None)) is not None:
                body += piece
        return body[:limit]

    def _content(self, media_type: str) -> tuple[str, bytes]:
        limit = self.request.max_bytes
        declared = declared_length(self.headers)
        if declared > limit:
            details = {"max_bytes": limit, "content_type": media_type, "content_length": declared}
            raise BodyTooLarge(f"the body is larger than {limit} bytes", details=details)
        body = BytesIO()
        for piece in self._decoded():
            body.write(piece)
            if not media_type and body.tell() >= SNIFF_BYTES:
                media_type = self._sniffed(body)
        if not media_type and body.tell():
            media_type = self._sniffed(body)
        return media_type, body.getvalue()

    def _decoded(self) -> Iterator[bytes]:
        return decode(
            self.response.iter_stream(),
            parse_content_encoding(self.headers.get("content-encoding", "")),
            max_bytes=self.request.max_bytes,
            checkpoint=self.deadline.remaining,
        )

    def _sniffed(self, body: BytesIO) -> str:
        media_type = sniff_media_type(bytes(body.getbuffer()[:SNIFF_BYTES]))
        self._check(media_type, sniffed=True)
        return media_type

    def _check(self, media_type: str, *, sniffed: bool = False) -> None:
        accepted = self.request.media_types
        if not accepted or media_type in accepted:
            return
        wanted = ", ".join(sorted(accepted))
        answered = f"answered {media_type}, none of {wanted}"
        details: dict[str, str | bool] = {"media_type": media_type}
        if sniffed:
            declared = self.headers.get("content-type", "").strip()
            what = "an unreadable Content-Type" if declared else "no Content-Type"
            details["sniffed"] = True
            answered = f"sent {what}, and its body looks like {media_type}, none of {wanted}"
        raise ContentRefused(f"{self.deadline.host} {answered}", details=details)
