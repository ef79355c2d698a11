"""What may be written down: secrets go before anything is logged, stored or sent (P-11).

`redact` takes values and `redact_text` texts. Neither raises, and neither changes what it is given.
Redacting twice changes nothing more.
"""

from spinneret.redaction.spans import MARK
from spinneret.redaction.texts import redact, redact_text

__all__ = ["MARK", "redact", "redact_text"]
