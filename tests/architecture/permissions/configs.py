"""What crawl configs, and what is kept of crawled pages, add to their functions."""

from tests.architecture.permissions.parts import on, together

NEEDED = {
    "CrawlApi": together(
        on("CrawlDefinitions", "DeleteItem GetItem PutItem Query"),
        on("TagsAndCollections", "BatchGetItem GetItem PutItem"),  # tags are made
        # what a crawl shows, and what a presigned URL does, its signer must be allowed
        on("Content/*", "s3:GetObject"),
        on("Content", "s3:ListBucket"),
    )
}
