"""Errors, with the statuses that API Gateway uses for them."""

from typing import ClassVar


class InvocationError(Exception):
    """The function gave no usable answer; ``status`` is the status of the rejected handshake."""

    status: ClassVar[int]


class FunctionFailed(InvocationError):
    """The function raised, ended, or returned no proxy response."""

    status = 502


class FunctionTimedOut(InvocationError):
    """The function exceeded the integration's time-out."""

    status = 504


class FunctionUnavailable(InvocationError):
    """The function isn't deployed, or the Lambda API rejected the invocation."""

    status = 500


class ConnectionsError(Exception):
    """A rejected call of ``@connections``; ``code`` is the name of AWS's exception."""

    status: ClassVar[int]
    code: ClassVar[str]


class ConnectionGone(ConnectionsError):
    """The connection has ended, or this id never existed."""

    status = 410
    code = "GoneException"


class ClientTooSlow(ConnectionsError):
    """The client has not read earlier messages."""

    status = 429
    code = "LimitExceededException"


class PayloadTooLarge(ConnectionsError):
    """The payload exceeds the size of one message."""

    status = 413
    code = "PayloadTooLargeException"


class NotText(ConnectionsError):
    """The payload cannot be sent as a text message."""

    status = 400
    code = "BadRequestException"


class StageUnknown(ConnectionsError):
    """The API has no such stage."""

    status = 403
    code = "ForbiddenException"
