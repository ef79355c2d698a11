"""Functions of sources."""

from tests.architecture.permissions.parts import JOB_WORK, RELAYING, on, together

NEEDED = {
    # a source is counted in its config and its collection
    "CrawlApi": together(
        on("CrawlDefinitions", "BatchGetItem ConditionCheckItem UpdateItem"),
        on("TagsAndCollections", "ConditionCheckItem UpdateItem"),
    ),
    "SourceTick": together(
        JOB_WORK,
        RELAYING,
        on("CrawlDefinitions", "BatchGetItem GetItem PutItem"),
        on("CrawlDefinitions/index/due", "Query"),
        on("Domains", "BatchGetItem GetItem"),  # blocks and circuit breakers
        on("Frontier", "GetItem Query"),  # ended deep crawls
        on("Frontier/index/placed", "Query"),
        on("TagsAndCollections", "GetItem"),
    ),
}
