"""Headers that an audit sends to its site, such as the credentials of a staging site."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.service import service
from spinneret.web.headers import rules
from spinneret.web.headers.sealing import HeaderSeal

_COOKIE = "Cookie"


@dataclass(frozen=True, kw_only=True)
class SealedHeaders:
    """Encrypted headers; their names are shown, their values never."""

    names: tuple[str, ...]
    data: bytes = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the headers as stored in a job's payload."""
        return {"names": list(self.names), "sealed": base64.b64encode(self.data).decode()}


def names_in(payload: Mapping[str, Any]) -> list[str]:
    """Return the names of the headers of a job's payload."""
    return list(payload["headers"]["names"]) if "headers" in payload else []


def sealed_in(payload: Mapping[str, Any]) -> bytes | None:
    """Return the encrypted headers of a job's payload; None without any."""
    return base64.b64decode(payload["headers"]["sealed"]) if "headers" in payload else None


@service
class HeaderIntake:
    """Checks the headers of requests, and encrypts them."""

    seal: HeaderSeal
    user_agent: str
    """The stage's own."""

    def take(
        self, tenant: str, headers: Mapping[str, str], cookie: str | None
    ) -> SealedHeaders | None:
        """Return the encrypted headers, with the cookie among them; None without any. Raises
        ValidationFailed and DependencyUnavailable."""
        if cookie is not None and any(name.lower() == _COOKIE.lower() for name in headers):
            raise ValidationFailed.of_field("cookie", "is given twice: headers have a Cookie")
        wanted = {**headers, **({} if cookie is None else {_COOKIE: cookie})}
        sealed = self.seal.close(tenant, rules.allowed_headers(wanted, self.user_agent))
        return None if sealed is None else SealedHeaders(names=tuple(sorted(wanted)), data=sealed)
