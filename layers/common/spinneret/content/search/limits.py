"""Bounds of embeddings and search, each with its source."""

from typing import Final

EMBED_SECONDS: Final = 60.0  # ruling "Embeddings"
EMBED_ATTEMPTS: Final = 3  # ruling "Embeddings"
EMBED_MIN_NORM: Final = 0.1  # ruling "Embeddings", before normalising

SEARCH_LIMIT_DEFAULT: Final = 10  # ruling "Defaults"
SEARCH_LIMIT_MAX: Final = 100  # ruling "Defaults"
SEARCH_WINDOW: Final = 100  # candidates per leg: spare ones replace hits of outdated versions
RRF_K: Final = 60  # S-02; Cormack, Clarke and Büttcher, SIGIR 2009
SEARCH_EMBED_SECONDS: Final = 3.0  # of SEARCH_SECONDS, for the vector; the rest is for the keywords
SEARCH_ROUNDS: Final = 3  # repeats without outdated hits, if too few hits remain
SEARCH_FILTER_VALUES: Final = 50  # alternatives of one filter
QUERY_TERMS: Final = 250  # for three fields and a pair each: OpenSearch takes 1024 clauses in all
RERANK_TOP_N: Final = 20  # ruling "Defaults"
RERANK_TOP_N_MAX: Final = 100
RERANK_SECONDS: Final = 5.0  # a cross-encoder takes some 50 ms a text on one core
CHUNKS_PER_FETCH: Final = 100  # of 10 KB each
BULK_MAX_BYTES: Final = 5 * 1024 * 1024  # OpenSearch's advice: 5 to 15 MB
BULK_SECONDS: Final = 60.0  # of one bulk: 500 new vectors on one busy core take 10 s
REFRESH_SECONDS: Final = 60.0
STAMPEDE_WAIT_SECONDS: Final = 3.0  # wait for another process's answer before computing it anyway
STAMPEDE_POLL_SECONDS: Final = 0.05  # the first pause of a waiting search; each one doubles
STAMPEDE_POLL_MAX_SECONDS: Final = 0.4
