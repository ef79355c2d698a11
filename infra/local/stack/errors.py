"""Errors that the command line shows as one message, each with its exit code."""

from __future__ import annotations

from typing import ClassVar


class StackError(Exception):
    """Something failed that the user should read about, without a traceback."""

    exit_code: ClassVar[int] = 1


class UsageError(StackError):
    """The request cannot be met as it was made; nothing was started or changed."""

    exit_code: ClassVar[int] = 2


class InstallError(StackError):
    """A tool could not be installed."""


class StartError(StackError):
    """A part of the stack did not start or does not answer."""


class PortTaken(StartError):
    """A part ended while it started, since another program has its port."""

    def __init__(self, text: str, port: int) -> None:
        super().__init__(text)
        self.port = port


class ProbeError(StackError):
    """A part answered a probe, but not with what it should."""
