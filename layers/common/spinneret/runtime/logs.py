"""Structured logs: one JSON line per record of any `spinneret.*` logger, without secrets."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from spinneret.redaction import redact


class RedactingFormatter(LambdaPowertoolsFormatter):
    """Removes secrets from the whole record, its exception and its extra fields (P-11)."""

    def serialize(self, log: Any) -> str:
        """As powertools, after redaction."""
        return super().serialize(redact(log))


def configure(service: str) -> Logger:
    """The process's logger; domain modules reach it as children of the logger `spinneret`."""
    logger = Logger(service="spinneret", level="INFO", logger_formatter=RedactingFormatter())
    logger.append_keys(function=service)
    return logger
