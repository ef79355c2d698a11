"""Redaction of secrets before anything is logged, stored or sent (P-11).

`redact` takes values and `redact_text` texts. Neither raises or changes its argument. Redacting
twice gives the same result.
"""

from spinneret.redaction.spans import MARK
from spinneret.redaction.texts import redact, redact_text

__all__ = ["MARK", "redact", "redact_text"]
