"""Seal the owner's part of requests: its headers, body and credentials."""

import base64
import json
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.sealing import Sealer
from spinneret.monitoring import limits
from spinneret.monitoring.targets.models import OwnRequest, SealedRequest
from spinneret.web.fetching.own_headers import require_own_headers

_PURPOSE: Final = "target-request"
_BY_THE_FETCHER: Final = frozenset({"user-agent"})


class RequestSeal:
    """Encrypts requests for the store, and decrypts them for checks.

    All methods raise DependencyUnavailable.
    """

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self._opened: dict[tuple[str, str], OwnRequest] = {}

    def close(self, tenant: str, request: OwnRequest) -> SealedRequest:
        """Encrypt a request. Raises ValidationFailed if it isn't valid or too long."""
        _require_valid(request)
        given = [dict(request.headers), request.body, request.username, request.password]
        text = json.dumps(given, ensure_ascii=False).encode()
        if len(text) > bounds.SEALED_MAX_BYTES:
            message = f"has {len(text)} bytes as JSON, more than {bounds.SEALED_MAX_BYTES}"
            raise ValidationFailed.about("request", message)
        sealed = self._sealer.seal(text, tenant=tenant, purpose=_PURPOSE)
        return SealedRequest(
            sealed=base64.b64encode(sealed).decode(),
            header_names=tuple(request.headers),
            has_body=request.body is not None,
            has_credentials=request.username is not None,
        )

    def open(self, tenant: str, sealed: SealedRequest) -> OwnRequest:
        """Decrypt a request; the last OPENED_REQUESTS are kept in memory.

        Raises SecretUnreadable.
        """
        name = tenant, sealed.sealed
        if (known := self._opened.get(name)) is not None:
            return known
        text = self._sealer.unseal(base64.b64decode(sealed.sealed), tenant=tenant, purpose=_PURPOSE)
        headers, body, username, password = json.loads(text)
        opened = OwnRequest(headers=headers, body=body, username=username, password=password)
        if len(self._opened) >= limits.OPENED_REQUESTS:
            del self._opened[next(iter(self._opened))]
        self._opened[name] = opened
        return opened


def headers_of(request: OwnRequest) -> dict[str, str]:
    """Return the headers to send, including the credentials (RFC 7617)."""
    if request.username is None:
        return dict(request.headers)
    pair = base64.b64encode(f"{request.username}:{request.password}".encode()).decode()
    return {**request.headers, "Authorization": f"Basic {pair}"}


def _require_valid(request: OwnRequest) -> None:
    own = _BY_THE_FETCHER | ({"authorization"} if request.username is not None else set())
    require_own_headers(
        request.headers, "request.headers", most=limits.OWN_HEADERS_MAX, reserved=own
    )
