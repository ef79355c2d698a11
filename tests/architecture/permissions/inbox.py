"""Functions of the inbox."""

from tests.architecture.permissions.parts import JOB_WORK, on, together

CALLS = {
    "complete_multipart_upload": "s3:PutObject",
    "create_multipart_upload": "s3:PutObject",
    "upload_part": "s3:PutObject",
}

_FILES = together(
    on("Inbox/*", "s3:GetObject s3:GetObjectVersion s3:PutObject"),
    on("Inbox", "s3:ListBucket"),
    on("CrawlDefinitions", "GetItem"),  # configs
    on("TagsAndCollections", "GetItem PutItem"),  # collections are read, tags created
)

NEEDED = {
    # forms and links act with their signer's permission
    "CrawlApi": on("Inbox/*", "s3:GetObject s3:PutObject"),
    "CrawlInbox": JOB_WORK,
    "CrawlWorker": _FILES,
}
