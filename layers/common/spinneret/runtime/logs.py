"""Structured logs: one JSON line per record of any `spinneret.*` logger, without secrets."""

import logging
import os
import sys
from typing import Any, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from spinneret.kernel.settings import read, text
from spinneret.redaction import redact

SERVICE: Final = "spinneret"
LOG_LEVEL: Final = text("LOG_LEVEL", "INFO")
"""Lowest level of the lines that are written; metrics (`runtime/metrics.py`) always are."""


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Remove secrets from the whole record, its exception and its extra fields (P-11)."""

    def __init__(self) -> None:
        """Write times by RFC 3339, which Lambda requires of lines in JSON."""
        super().__init__(use_rfc3339=True)

    def serialize(self, log: Any) -> str:
        """Serialize the redacted record."""
        return super().serialize(redact(log))


def configure(service: str) -> Logger:
    """Return the process's logger; loggers of domain modules are children of `spinneret`.

    Records below LOG_LEVEL are dropped.
    Warnings, errors and tracebacks that libraries log are written in the same form.
    """
    formatter = RedactingFormatter()
    root = logging.getLogger()
    if not root.handlers:  # before our logger, whose records don't reach these handlers
        root.addHandler(logging.StreamHandler(sys.stdout))
    for handler in root.handlers:  # includes Lambda's own handler
        handler.setFormatter(formatter)
    logging.captureWarnings(capture=True)
    level = read(os.environ, (LOG_LEVEL,))[LOG_LEVEL.name]
    logger = Logger(service=SERVICE, level=level, logger_formatter=RedactingFormatter())
    logger.append_keys(function=service)
    return logger


def bind_request_id(request_id: str) -> None:
    """Add the request id to all further log lines."""
    Logger(service=SERVICE).append_keys(request_id=request_id)
