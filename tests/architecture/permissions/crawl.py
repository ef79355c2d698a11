"""Functions of the crawl area."""

from tests.architecture.permissions.parts import (
    ADMISSION,
    CACHING,
    EMBEDDING,
    EXPLORING,
    INDEX_WRITING,
    JOB_WORK,
    POLITE_FETCHING,
    RELAYING,
    STORING,
    UPLOADED,
    on,
    together,
)

_PAGE = together(JOB_WORK, POLITE_FETCHING, STORING, CACHING, INDEX_WRITING, EMBEDDING)
_CRAWLING = together(_PAGE, EXPLORING, RELAYING, on("DeepCrawlMachine", "states:StartExecution"))

CALLS = {
    "start_execution": "states:StartExecution",
    "list_executions": "states:ListExecutions",
}

NEEDED = {
    "CrawlApi": together(
        ADMISSION,
        UPLOADED,
        JOB_WORK,
        # settings and rate limits of hosts, proxies and their usage
        on("Domains", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
        RELAYING,
        on("Webhooks", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
        on("Documents", "BatchGetItem"),  # whether a crawl's page is visible
        on("Frontier", "GetItem Query"),
        on("Frontier/index/placed", "Query"),
        on("SecretsKey", "kms:Encrypt kms:Decrypt"),  # a proxy test uses its credentials
    ),
    "CrawlWorker": _CRAWLING,
    "DeepCrawlStep": together(_PAGE, EXPLORING, RELAYING),
    "RenderedCrawlWorker": together(_PAGE, RELAYING),
}
