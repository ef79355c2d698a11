"""Value classes, requests and responses of the inbox."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, StringConstraints

from spinneret.crawl.inbox import limits
from spinneret.crawl.models import BatchView, PageOptions, UrlText
from spinneret.kernel.errors import DomainError, NotFound
from spinneret.kernel.ids import is_id


class Format(StrEnum):
    """Format of a file, determined by its suffix."""

    TXT = "txt"
    CSV = "csv"
    JSONL = "jsonl"


FileName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.(txt|csv|jsonl)$",
        max_length=limits.INBOX_NAME_MAX_CHARS,
    ),
]
UPLOAD: Final = "upload"
"""Name of what a form's job waits for."""
_KEY: Final = re.compile(r"T/([^/]+)/inbox/(.+\.(txt|csv|jsonl))", re.DOTALL)


class InboxRequest(BaseModel):
    """Body of `POST /api/v1/inbox`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: FileName
    """File name, whose suffix determines the format; all formats are in UTF-8.

    `txt` has one URL a line. A line whose first character after blanks is `#` is a comment; a later
    `#` belongs to the URL, as its fragment, and a comment behind a URL makes the line invalid.
    `csv` and `jsonl` have no comments: there, `#` is part of a value. `csv` has a column `url`;
    otherwise the first column with URLs is used. `jsonl` has one object a line with `url` and the
    options of a crawl of one page.
    """


class FileLine(PageOptions):
    """One line of a `jsonl` file."""

    url: UrlText


@dataclass(frozen=True, kw_only=True)
class InboxFile:
    """One version of an object in the inbox."""

    tenant: str
    key: str
    version: str

    @classmethod
    def arrived(cls, key: str, version: str) -> InboxFile:
        """Build from an object's key. Raises NotFound if the key is in no tenant's inbox."""
        match = _KEY.fullmatch(key)
        if match is None or not is_id(match[1]):
            raise NotFound("no inbox has this object")
        return cls(tenant=match[1], key=key, version=version)

    @classmethod
    def of(cls, tenant: str, payload: Mapping[str, Any]) -> InboxFile:
        """Build from a job's payload."""
        return cls(tenant=tenant, key=payload["key"], version=payload["version"])

    @property
    def payload(self) -> dict[str, Any]:
        """Payload of the file's job."""
        return {"key": self.key, "version": self.version, "name": self.name}

    @property
    def job_id(self) -> str:
        """Part of the key that names the job of the form; any text if no form made the key."""
        return self.key.split("/")[3]

    @property
    def name(self) -> str:
        """Last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def format(self) -> Format:
        """Format, determined by the suffix."""
        return Format(self.key.rpartition(".")[2])

    @property
    def report_key(self) -> str:
        """Report key next to the file; triggers no event rule."""
        return f"{self.key}.report.ndjson"


@dataclass(frozen=True, kw_only=True)
class InboxForm:
    """Permission to upload one file: a form to post before `expires_at`, the file as last field."""

    key: str
    url: str
    fields: Mapping[str, str] = field(repr=False)
    """Form fields, to be sent unchanged; they contain a signature."""
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """Content of one line, or of a CSV record that spans several lines."""

    number: int
    """Number of the first line, counted from 1."""
    asked: FileLine | None
    url: str | None = None
    problem: DomainError | None = None
    """Reason why the entry has no page."""
    next_line: int
    next_offset: int
    """Byte offset of the next entry."""


class InboxView(BaseModel):
    """Permission to upload one file: post `fields` and then `file` to `url` as multipart/form-data.

    The job waits for the file, for an hour at most. Then it fails with NOT_FOUND.
    """

    job_id: str
    inbox_id: str
    """The same as `job_id`."""
    key: str
    """Key of the object in the bucket."""
    url: str
    """URL to which the form is posted."""
    fields: dict[str, str]
    """Fields of the form, to be sent before the file."""
    max_bytes: int
    """Maximum size of the file in bytes."""
    expires_at: str
    """Expiry of the form."""


class InboxFileView(BatchView):
    """A file of URLs and the numbers of its crawls."""

    name: str
    """Name of the file."""
    waiting_for: str | None
    """`upload` until the file arrives."""
    report_url: str | None
    """URL that serves the report for some minutes; null until all lines are read.

    The report is JSON Lines, with the job or the error of each line of the file.
    """
