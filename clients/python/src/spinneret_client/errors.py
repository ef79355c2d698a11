"""Errors of the client; all derive from SpinneretError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final


class SpinneretError(Exception):
    """Base of all errors that this package raises."""


class ConfigurationError(SpinneretError):
    """Missing or invalid URL, key, profile or argument."""


class NotConfigured(ConfigurationError):
    """No URL to send requests to."""


class ConnectionFailed(SpinneretError):
    """The server couldn't be reached, or the connection broke, in all attempts."""

    def __init__(self, message: str, *, attempts: int = 1) -> None:
        super().__init__(message)
        self.attempts = attempts


class RequestTimeout(ConnectionFailed):
    """No complete response within the time-out, in all attempts."""


class WaitTimeout(SpinneretError):
    """A job hasn't ended in time; it continues on the server."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(f"{job_id} isn't finished after {seconds:g} s; it continues")
        self.job_id = job_id


class UnexpectedResponse(SpinneretError):
    """A successful response that doesn't match the API document."""


class WebhookInvalid(SpinneretError):
    """A delivery that must not be acted upon; `reason` is a short code."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"webhook refused: {reason}")
        self.reason = reason


class ApiError(SpinneretError):
    """An error response; `code` is stable, and the message is for people."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        details: Mapping[str, Any],
        request_id: str | None,
        attempts: int,
        retry_after: float | None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.details = details
        self.request_id = request_id
        self.attempts = attempts
        self.retry_after = retry_after
        """Seconds that the server asks to wait."""

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Paths of the invalid fields, each with its error."""
        found = self.details.get("fields", [])
        return [(str(each.get("path")), str(each.get("message", ""))) for each in found]

    @property
    def hints(self) -> list[str]:
        """Hints of the server on how to correct the invalid fields, if it gave any."""
        return [str(each["hint"]) for each in self.details.get("fields", []) if each.get("hint")]


class InvalidRequest(ApiError):
    """400, 413 or 422: the request can't succeed unchanged."""


class AuthRequired(ApiError):
    """401: the credential is missing, wrong or expired."""


class Forbidden(ApiError):
    """403: the credential lacks the scope, or the target is forbidden."""


class NotFound(ApiError):
    """404: no such object for this tenant, or a disabled feature."""


class Conflict(ApiError):
    """409: the object's state doesn't allow the request."""


class RateLimited(ApiError):
    """429: too many requests; `retry_after` has the wait."""


class ServerError(ApiError):
    """5xx: the server failed."""


class Unavailable(ServerError):
    """503: a dependency of the server doesn't respond, or a domain's circuit is open."""


class IdempotencyMismatch(InvalidRequest):
    """The idempotency key was used before with another body."""


class UrlRefused(InvalidRequest, Forbidden):
    """The URL is invalid, leads to a forbidden address, or its domain is blocked."""


class FeatureDisabled(NotFound):
    """The feature is disabled on this stage."""


BY_CODE: Final[Mapping[str, type[ApiError]]] = {
    "AUTH_REQUIRED": AuthRequired,
    "BODY_TOO_LARGE": InvalidRequest,
    "CIRCUIT_OPEN": Unavailable,
    "CONFLICT": Conflict,
    "DEPENDENCY_UNAVAILABLE": Unavailable,
    "DOMAIN_BLOCKED": UrlRefused,
    "FEATURE_DISABLED": FeatureDisabled,
    "FORBIDDEN": Forbidden,
    "TENANT_SUSPENDED": Forbidden,
    "IDEMPOTENCY_MISMATCH": IdempotencyMismatch,
    "NOT_FOUND": NotFound,
    "RATE_LIMITED": RateLimited,
    "URL_BLOCKED": UrlRefused,
    "URL_INVALID": UrlRefused,
    "VALIDATION_ERROR": InvalidRequest,
}
BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    400: InvalidRequest,
    401: AuthRequired,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
    503: Unavailable,
}
"""Classes for codes that this version doesn't have, and for errors of proxies."""


def error_class(status: int, code: str) -> type[ApiError]:
    """Return the class of an error response."""
    fallback = ServerError if status >= 500 else ApiError
    return BY_CODE.get(code) or BY_STATUS.get(status, fallback)
