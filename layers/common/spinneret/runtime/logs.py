"""Structured logs: one JSON line per record of any `spinneret.*` logger."""

from __future__ import annotations

from aws_lambda_powertools import Logger


def configure(service: str) -> Logger:
    """The process's logger; domain modules reach it as children of the logger `spinneret`."""
    logger = Logger(service="spinneret", level="INFO")
    logger.append_keys(function=service)
    return logger
