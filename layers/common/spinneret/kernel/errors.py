"""The error tree.

    DomainError
    ├── PermanentError          a worker fails the job at once
    │   ├── ValidationFailed, UrlInvalid, UrlBlocked, DomainBlocked, RobotsDisallowed, NotFound,
    │   │   MethodNotAllowed, Conflict, AuthRequired, Forbidden (TenantSuspended) …
    │   └── HttpRefused, ContentRefused, EmbeddingRefused, BodyTooLarge, TooManyRedirects,
    │       DomainLockTimeout, SecretUnreadable, DeliveryRefused, ResultRefused, MarketplaceRefused,
    │       MarketplaceUnsupported, PagesFailed, InputNeeded, ReauthNeeded, RetriesExceeded,
    │       PageTooLarge, ScriptError, BrowserMissing
    ├── TransientError          a worker retries and charges an attempt
    │   └── FetchTimeout (CallerDeadlineExceeded), FetchFailed (ProxyFailed), HttpUnavailable,
    │       RateLimited, Contended, CircuitOpen, DomainLockLost, DeliveryFailed,
    │       MarketplaceUnavailable (MarketplaceUnsettled), RenderTimeout, BrowserFailed
    ├── DependencyUnavailable   one of our own parts is down: retry, charge nothing
    └── LeaseLost               another claim owns the job: stop and touch nothing

`code` is part of the public interface: clients and stored jobs depend on it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

FIELD_PATH_CHARS: Final = 200


def field_error(path: str, message: str, hint: str | None = None, **more: Any) -> dict[str, Any]:
    """Return an entry of `details.fields`: what is wrong where, and what to do, if that is known.

    `path` names a field of the request with dots between levels, such as `urls.0`; it is cut after
    FIELD_PATH_CHARS, because a client may choose the name of a field.
    """
    return {"path": path[:FIELD_PATH_CHARS], "message": message, "hint": hint, **more}


class DomainError(Exception):
    """Base of all expected failures; the message is safe to show to the tenant."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    @classmethod
    def of_field(
        cls, path: str, message: str, hint: str | None = None, *, error: str | None = None
    ) -> Self:
        """Return the error about one field of the request.

        `error` is the error's own message, by default the field's.
        """
        return cls(error or message, details={"fields": [field_error(path, message, hint)]})

    @classmethod
    def about(cls, path: str, message: str) -> Self:
        """Return the error about one field of the request, whose own message names the field."""
        return cls.of_field(path, message, error=f"{path} {message}")


class PermanentError(DomainError):
    """A retry can't help."""


class TransientError(DomainError):
    """A retry may help; `retry_after` (seconds) is the delay that the remote side requests."""

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, details=details)
        self.retry_after = retry_after


class ValidationFailed(PermanentError):
    """The request isn't JSON, or has an unknown field or an invalid value.

    Details name the fields, if the body could be parsed.
    """

    code = "VALIDATION_ERROR"
    status = 422


class IdempotencyMismatch(PermanentError):
    """The idempotency key was used before with another payload."""

    code = "IDEMPOTENCY_MISMATCH"
    status = 422


class UrlInvalid(PermanentError):
    """The URL isn't an absolute http(s) URL without credentials."""

    code = "URL_INVALID"
    status = 400


class UrlBlocked(PermanentError):
    """The URL or one of its redirects leads to a forbidden address."""

    code = "URL_BLOCKED"
    status = 403


class RobotsDisallowed(PermanentError):
    """The site's robots.txt disallows the page for our product token (RFC 9309)."""

    code = "ROBOTS_DISALLOWED"
    status = 403


class DomainBlocked(PermanentError):
    """The tenant has blocked the domain or a parent domain (F-09)."""

    code = "DOMAIN_BLOCKED"
    status = 403


class AuthRequired(PermanentError):
    """The credential is missing or invalid."""

    code = "AUTH_REQUIRED"
    status = 401


class Forbidden(PermanentError):
    """The credential lacks the scope that the route requires."""

    code = "FORBIDDEN"
    status = 403


class TenantSuspended(Forbidden):
    """The operator has suspended the tenant, or is deleting it; the message has the reason."""

    code = "TENANT_SUSPENDED"


class NotFound(PermanentError):
    """The tenant has no such object; ids of other tenants give the same response."""

    code = "NOT_FOUND"
    status = 404


def existing[T](value: T | None, what: str) -> T:
    """Return the value. Raises NotFound if it is None; `what` names it, such as "tag"."""
    if value is None:
        raise NotFound(f"no such {what}")
    return value


class MethodNotAllowed(PermanentError):
    """The path exists, but has no such method; `Allow` lists its methods."""

    code = "METHOD_NOT_ALLOWED"
    status = 405


class FeatureDisabled(PermanentError):
    """The feature is disabled on this stage (ruling "Feature flags")."""

    code = "FEATURE_DISABLED"
    status = 404


class Conflict(PermanentError):
    """The resource's state doesn't allow the request."""

    code = "CONFLICT"
    status = 409


class HttpRefused(PermanentError):
    """The site answered with a 4xx status that a retry won't change."""

    code = "HTTP_ERROR"
    status = 502


class ContentRefused(PermanentError):
    """The page can't be indexed: unsupported type, coding or language, or no content."""

    code = "CONTENT_REFUSED"
    status = 422


class EmbeddingRefused(PermanentError):
    """The embedder's vector has the wrong size, isn't finite or is close to zero."""

    code = "EMBEDDING_REFUSED"
    status = 502


class BodyTooLarge(PermanentError):
    """The body is larger than allowed, before or after decoding."""

    code = "BODY_TOO_LARGE"
    status = 413


class PageTooLarge(PermanentError):
    """The page takes more bytes, requests, frames, memory or sheets than a rendering may."""

    code = "PAGE_TOO_LARGE"
    status = 422


class ScriptError(PermanentError):
    """A script failed in the page, or has no result; details may give `line` and `column`."""

    code = "SCRIPT_ERROR"
    status = 422


class BrowserMissing(PermanentError):
    """The stage of a submission has no browser; clients see it as a dependency that is down."""

    code = "DEPENDENCY_UNAVAILABLE"
    status = 503

    def __init__(
        self,
        message: str = "browser: this stage has none",
        *,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, details=details or {"dependency": "browser"})


class TooManyRedirects(PermanentError):
    """The number of redirects exceeds the limit."""

    code = "TOO_MANY_REDIRECTS"
    status = 502


class DomainLockTimeout(PermanentError):
    """Another session locked the domain during all attempts (F-04)."""

    code = "DOMAIN_LOCK_TIMEOUT"
    status = 503


class SecretUnreadable(PermanentError):
    """A stored secret can't be decrypted: it was encrypted for another record, or its key is
    gone."""

    code = "SECRET_UNREADABLE"
    status = 500


class DeliveryRefused(PermanentError):
    """The webhook's endpoint is gone, refuses further events, or was unreachable too long."""

    code = "WEBHOOK_FAILED"
    status = 502


class ResultRefused(PermanentError):
    """The result of a job isn't JSON, or is too large to store."""

    code = "RESULT_REFUSED"
    status = 500


class MarketplaceRefused(PermanentError):
    """A marketplace refuses a product or a request; details name the fields and what to do."""

    code = "MARKETPLACE_REFUSED"
    status = 422


class MarketplaceUnsupported(PermanentError):
    """The marketplace has no interface for this action."""

    code = "UNSUPPORTED"
    status = 422


class PagesFailed(PermanentError):
    """No page of a deep crawl could be fetched; details give the reason for the first one."""

    code = "PAGES_FAILED"
    status = 502


class InputNeeded(PermanentError):
    """The seller must decide; details name the missing input."""

    code = "NEEDS_INPUT"
    status = 422


class ReauthNeeded(PermanentError):
    """The seller's authorization for a marketplace is missing, expired or withdrawn."""

    code = "NEEDS_REAUTH"
    status = 409


class RetriesExceeded(PermanentError):
    """A marketplace job failed as often as its action type allows."""

    code = "MAX_RETRIES_EXCEEDED"
    status = 502


class FetchTimeout(TransientError):
    """The site exceeded the time limit of the fetch."""

    code = "FETCH_TIMEOUT"
    status = 504


class RenderTimeout(TransientError):
    """The page wasn't ready in time: it computes without end, or lacks the awaited element."""

    code = "RENDER_TIMEOUT"
    status = 504


class BrowserFailed(TransientError):
    """The browser ended or stopped answering; the page may be the cause, so it is an attempt."""

    code = "BROWSER_FAILED"
    status = 502


class CallerDeadlineExceeded(FetchTimeout):
    """The caller's own deadline ended the fetch early, so this says nothing about the site."""


class FetchFailed(TransientError):
    """Name resolution, connection, TLS or protocol failure."""

    code = "FETCH_FAILED"
    status = 502

    @property
    def is_of_host(self) -> bool:
        """Whether every other page of the host fails for the same reason: its name or its TLS."""
        return self.details.get("reason") in ("unknown_host", "dns", "tls")


class ProxyFailed(FetchFailed):
    """The tenant's proxy couldn't connect to the site; this says nothing about the site."""

    code = "PROXY_FAILED"


class HttpUnavailable(TransientError):
    """408, 425, 429 or 5xx from the site."""

    code = "HTTP_ERROR"
    status = 502


class DeliveryFailed(TransientError):
    """The webhook's endpoint didn't accept the event."""

    code = "WEBHOOK_FAILED"
    status = 502


class MarketplaceUnavailable(TransientError):
    """A marketplace didn't answer or is temporarily unavailable; whether it acted is unknown."""

    code = "MARKETPLACE_UNAVAILABLE"
    status = 502


class MarketplaceUnsettled(MarketplaceUnavailable):
    """A marketplace's answer doesn't show what it did, or contradicts what it did just before.

    The step is repeated after it has read back what the marketplace has, for some minutes at most;
    then `otherwise` is raised, by default MarketplaceUnavailable.
    """

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        otherwise: DomainError | None = None,
    ) -> None:
        super().__init__(message, details=details)
        self.otherwise = otherwise or MarketplaceUnavailable(message, details=details)


class Contended(TransientError):
    """Concurrent requests are changing the same resource; try again a moment later."""

    code = "CONFLICT"
    status = 409


class RateLimited(TransientError):
    """Too many requests for the credential or the site; `retry_after` gives the delay."""

    code = "RATE_LIMITED"
    status = 429


class CircuitOpen(TransientError):
    """The domain failed too often recently; `retry_after` gives the delay until the next try."""

    code = "CIRCUIT_OPEN"
    status = 503


class DomainLockLost(TransientError):
    """The session exceeded its lock, and another session has locked the domain."""

    code = "DOMAIN_LOCK_LOST"
    status = 409


class DependencyUnavailable(DomainError):
    """A dependency (store, queue, index, embedder) doesn't respond."""

    code = "DEPENDENCY_UNAVAILABLE"
    status = 503

    def __init__(self, dependency: str, message: str = "temporarily unavailable") -> None:
        super().__init__(f"{dependency}: {message}", details={"dependency": dependency})
        self.dependency = dependency


class LeaseLost(DomainError):
    """A write was refused by its fence: the job belongs to another claim or is finished."""

    code = "LEASE_LOST"
    status = 409
