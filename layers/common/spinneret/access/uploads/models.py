"""Values of uploads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class UploadForm:
    """Permission to store one body: a form to post before `expires_at`, the file as last field."""

    upload_id: str
    url: str
    fields: Mapping[str, str] = field(repr=False)
    """To be sent unchanged; they contain a signature."""
    expires_at: datetime
