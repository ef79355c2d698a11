"""Secrets are removed before anything is logged, stored as an error or sent as an event (P-11)."""

from spinneret.redaction.spans import MARK
from spinneret.redaction.tree import redact, redact_text

__all__ = ["MARK", "redact", "redact_text"]
