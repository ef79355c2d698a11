"""What can fail, with the status that API Gateway gives it."""

from __future__ import annotations

from typing import ClassVar


class InvocationError(Exception):
    """The function gave no usable answer; ``status`` is what a handshake is refused with."""

    status: ClassVar[int]


class FunctionFailed(InvocationError):
    """It raised, ended, or answered what is no proxy response."""

    status = 502


class FunctionTimedOut(InvocationError):
    """It took longer than an integration may."""

    status = 504


class FunctionUnavailable(InvocationError):
    """It is not deployed, or the Lambda API did not take the invocation."""

    status = 500


class ConnectionsError(Exception):
    """A call of ``@connections`` that is refused; ``code`` is the name of AWS's exception."""

    status: ClassVar[int]
    code: ClassVar[str]


class ConnectionGone(ConnectionsError):
    """The connection has ended, or there never was one of this id."""

    status = 410
    code = "GoneException"


class ClientTooSlow(ConnectionsError):
    """The client has not read what it was sent before."""

    status = 429
    code = "LimitExceededException"


class PayloadTooLarge(ConnectionsError):
    """More than one message may hold."""

    status = 413
    code = "PayloadTooLargeException"


class NotText(ConnectionsError):
    """A payload that cannot be sent as a text message."""

    status = 400
    code = "BadRequestException"


class StageUnknown(ConnectionsError):
    """The API has no such stage."""

    status = 403
    code = "ForbiddenException"
