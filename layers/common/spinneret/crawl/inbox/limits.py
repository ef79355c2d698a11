"""Bounds of the inbox, each with its source."""

from typing import Final

INBOX_FORM_SECONDS: Final = 900  # as UPLOAD_FORM_SECONDS
INBOX_ARRIVAL_SECONDS: Final = 3600  # from the form to the event: an upload of 100 MB is slow
INBOX_LINES_MAX: Final = 100_000  # C-09: an hour or so of creating jobs; further lines aren't read
INBOX_LINE_MAX_BYTES: Final = 64 * 1024  # a URL of 2 KB and its options
INBOX_FIELDS_SHOWN: Final = 10  # wrong fields of a line in the report, of thousands
INBOX_READ_BYTES: Final = 1024 * 1024  # of one request; a claim keeps one such part in memory
INBOX_HEAD_BYTES: Final = 64 * 1024  # start of a file, which shows its columns, and that it is text
INBOX_RECORD_LINES: Final = 20  # of one CSV record with line breaks in its quotes
INBOX_BLOCK_LINES: Final = 400  # outcomes per object until the report: some 100 KB
INBOX_REPORT_PART_BYTES: Final = 8 * 1024 * 1024  # of a multipart upload: S3 requires 5 MB or more
INBOX_NAME_MAX_CHARS: Final = 100
INBOX_REPORT_KEY_MAX_BYTES: Final = 1024  # of any key: S3's quota
INBOX_LINK_SECONDS: Final = 900  # of a report's URL; a role's credentials live longer
