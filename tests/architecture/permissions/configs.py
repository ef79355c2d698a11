"""Permissions that crawl configs and the stored data of crawled pages add to their functions."""

from tests.architecture.permissions.parts import on, together

NEEDED = {
    "CrawlApi": together(
        on("CrawlDefinitions", "DeleteItem GetItem PutItem Query"),
        on("TagsAndCollections", "BatchGetItem GetItem PutItem"),  # tags are created
        # content of a crawl; a presigned URL acts with its signer's permission
        on("Content/*", "s3:GetObject"),
        on("Content", "s3:ListBucket"),
    )
}
