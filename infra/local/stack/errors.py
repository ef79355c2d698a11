"""Errors that the command line shows as one message, each with its exit code."""

from typing import ClassVar


class StackError(Exception):
    """A failure to report to the user without a traceback."""

    exit_code: ClassVar[int] = 1


class UsageError(StackError):
    """The request cannot be fulfilled as given, and it had no effect."""

    exit_code: ClassVar[int] = 2


class InstallError(StackError):
    """A tool could not be installed."""


class StartError(StackError):
    """A part of the stack did not start or does not answer."""


class PortTaken(StartError):
    """A part ended during its start because another program uses its port."""

    def __init__(self, text: str, port: int) -> None:
        super().__init__(text)
        self.port = port


class ProbeError(StackError):
    """A part answered a probe incorrectly."""
