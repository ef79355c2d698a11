"""Responses about uploads."""

from pydantic import BaseModel

from spinneret.access import limits
from spinneret.access.uploads.models import UploadForm
from spinneret.kernel.clock import to_iso


class UploadView(BaseModel):
    """Permission to upload one body.

    Post `fields` and then `file` to `url` as multipart/form-data.
    """

    upload_id: str
    """Value of the header `Upload-Id`, valid for one day."""
    url: str
    """URL to which the form is posted."""
    fields: dict[str, str]
    """Fields of the form, to be sent before the file."""
    max_bytes: int
    """Maximum size of the upload in bytes."""
    expires_at: str
    """Expiry of the form."""


def upload_view(form: UploadForm) -> UploadView:
    """Return the view of a form."""
    return UploadView(
        upload_id=form.upload_id,
        url=form.url,
        fields=dict(form.fields),
        max_bytes=limits.UPLOAD_MAX_BYTES,
        expires_at=to_iso(form.expires_at),
    )
