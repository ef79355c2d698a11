"""Functions of discovery."""

from tests.architecture.permissions.parts import JOB_WORK, POLITE_FETCHING, RELAYING, on, together

NEEDED = {
    "CrawlApi": on("CrawlDefinitions", "BatchGetItem"),
    "DiscoveryWorker": together(
        JOB_WORK,
        RELAYING,
        POLITE_FETCHING,
        on("CrawlDefinitions", "BatchGetItem GetItem PutItem"),
        # robots.txt files, which all functions share
        on("Content/*", "s3:GetObject s3:PutObject"),
        on("Content", "s3:ListBucket"),
    ),
}
