"""Structured logs: one JSON line per record of any `spinneret.*` logger, without secrets."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from spinneret.redaction import redact

SERVICE: Final = "spinneret"


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Removes secrets from the whole record, its exception and its extra fields (P-11)."""

    def serialize(self, log: Any) -> str:
        """As powertools, after redaction."""
        return super().serialize(redact(log))


def configure(service: str) -> Logger:
    """The process's logger; domain modules reach it as children of the logger `spinneret`.

    What libraries log from warnings on, tracebacks included, is written in the same form.
    """
    formatter = RedactingFormatter()
    root = logging.getLogger()
    if not root.handlers:  # before ours, which keeps its own records from them
        root.addHandler(logging.StreamHandler(sys.stdout))
    for handler in root.handlers:  # Lambda's own among them
        handler.setFormatter(formatter)
    logging.captureWarnings(capture=True)
    logger = Logger(service=SERVICE, level="INFO", logger_formatter=RedactingFormatter())
    logger.append_keys(function=service)
    return logger


def bind_request_id(request_id: str) -> None:
    """Every line from now on names the invocation that it belongs to."""
    Logger(service=SERVICE).append_keys(request_id=request_id)
