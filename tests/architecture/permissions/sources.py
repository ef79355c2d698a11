"""Functions of sources."""

from tests.architecture.permissions.parts import JOB_WORK, RELAYING, on, together

NEEDED = {
    # config and collection of a source are counted with it
    "CrawlApi": together(
        on("CrawlDefinitions", "BatchGetItem ConditionCheckItem UpdateItem"),
        on("TagsAndCollections", "ConditionCheckItem UpdateItem"),
    ),
    "SourceTick": together(
        JOB_WORK,
        RELAYING,
        on("CrawlDefinitions", "BatchGetItem GetItem PutItem"),
        on("CrawlDefinitions/index/due", "Query"),
        on("Domains", "BatchGetItem GetItem"),  # blocks, breakers
        on("Frontier", "GetItem Query"),  # ended deep crawls
        on("Frontier/index/placed", "Query"),
        on("TagsAndCollections", "GetItem"),
    ),
}
