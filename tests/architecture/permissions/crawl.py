"""Functions of the crawl area."""

from __future__ import annotations

from tests.architecture.permissions.parts import (
    ADMISSION,
    INDEX_WRITING,
    JOB_WORK,
    POLITE_FETCHING,
    STORING,
    UPLOADED,
    on,
    together,
)

_CRAWLING = together(JOB_WORK, POLITE_FETCHING, STORING, INDEX_WRITING)

NEEDED = {
    "CrawlApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,
        # hosts' settings and pace, proxies and their use
        on("Domains", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
        on("Webhooks", "DeleteItem GetItem PutItem Query UpdateItem"),
        on("SecretsKey", "kms:Encrypt kms:Decrypt"),  # a proxy is tried with its credentials
    ),
    "CrawlHighWorker": _CRAWLING,
    "CrawlNormalWorker": _CRAWLING,
    "CrawlLowWorker": _CRAWLING,
}
