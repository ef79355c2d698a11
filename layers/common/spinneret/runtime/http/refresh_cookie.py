"""The cookie in which a browser holds the refresh token of a session.

It has no Path: browsers then use the request's path up to its last slash (RFC 6265, section 5.1.4),
which is `/api/v1/auth` under any prefix, such as a stage's, that the function doesn't know.
"""

from datetime import UTC, datetime
from typing import Final

from aws_lambda_powertools.event_handler import Response, content_types
from aws_lambda_powertools.shared.cookies import Cookie, SameSite

from spinneret.access.sessions.api_models import TokenView, token_view
from spinneret.access.sessions.models import Tokens
from spinneret.runtime.http.origins import Headers, is_loopback

_NAME: Final = "spinneret_refresh"


def with_tokens(tokens: Tokens, headers: Headers, *, cookie: bool) -> Response[TokenView]:
    """Return the response of a sign-in or refresh, with the refresh token in body or cookie."""
    held = _cookie(headers, tokens.refresh_token, tokens.expires_at)
    return Response(
        status_code=200,
        content_type=content_types.APPLICATION_JSON,
        body=token_view(tokens, cookie=cookie),
        headers={"Cache-Control": "no-store"},
        cookies=[held] if cookie else [],
    )


def cleared_cookie(headers: Headers) -> Cookie:
    """Return the cookie that removes the former one."""
    return _cookie(headers, "", datetime.fromtimestamp(0, UTC))


def token_in_cookie(headers: Headers) -> str:
    """Return the token of a request's cookie; empty without one.

    Empty also with two tokens: another host of the domain may have added its own session's.
    """
    cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    tokens = {value for name, _, value in cookies if name == _NAME}
    return tokens.pop() if len(tokens) == 1 else ""


def _cookie(headers: Headers, token: str, expires_at: datetime) -> Cookie:
    """Return the cookie, which no script can read. Loopback has no TLS."""
    return Cookie(
        name=_NAME,
        value=token,
        expires=expires_at.astimezone(UTC),
        http_only=True,
        secure=not is_loopback(headers.get("host", "")),
        same_site=SameSite.STRICT_MODE,
    )
