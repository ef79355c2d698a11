"""Functions of media."""

from tests.architecture.permissions.parts import JOB_WORK, POLITE_FETCHING, RELAYING, on, together

NEEDED = {
    "CrawlApi": on("Media/*", "s3:GetObject s3:PutObject"),  # links, and a job's scripts
    "MediaWorker": together(
        JOB_WORK,
        RELAYING,
        POLITE_FETCHING,
        # robots.txt files, which all functions share
        on("Content/*", "s3:GetObject s3:PutObject"),
        on("Content", "s3:ListBucket"),
        on("Media/*", "s3:GetObject s3:PutObject"),
        on("Media", "s3:ListBucket"),
    ),
}
