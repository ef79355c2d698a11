"""Values of uploads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class UploadForm:
    """Leave to store one body: a form to be posted before `expires_at`, the file as last field."""

    upload_id: str
    url: str
    fields: Mapping[str, str] = field(repr=False)
    """To be sent as they are; they hold a signature."""
    expires_at: datetime
