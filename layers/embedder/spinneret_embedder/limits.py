"""Limits of the protocol, equal to TEI's defaults (``text-embeddings-router --help``)."""

from __future__ import annotations

from typing import Final

# Texts, not HTTP requests: TEI takes one permit for each text of a batch. 512 texts of 500 tokens
# take about 40 s on two cores, so the last one admitted is served within a client's 60 s time-out.
MAX_CONCURRENT_REQUESTS: Final = 512
MAX_CLIENT_BATCH_SIZE: Final = 32
MAX_BATCH_TOKENS: Final = 16_384
PAYLOAD_LIMIT_BYTES: Final = 2_000_000
# TEI's MAX_CHAR_MULTIPLIER: a text of more characters than this per token of the model's maximum
# is cut, or refused, before it is tokenized.
MAX_CHARACTERS_PER_TOKEN: Final = 250
