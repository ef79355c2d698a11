"""Values of uploads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class UploadForm:
    """Form that stores one body if posted before `expires_at`, with the file as last field."""

    upload_id: str
    url: str
    fields: Mapping[str, str] = field(repr=False)
    """Form fields to send unchanged; they contain a signature."""
    expires_at: datetime
