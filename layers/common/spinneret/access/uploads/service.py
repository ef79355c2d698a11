"""Uploads: the use cases behind their route and behind `Upload-Id`."""

from datetime import timedelta

from spinneret.access import limits
from spinneret.access.uploads.models import UploadForm
from spinneret.access.uploads.ports import UploadStore
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import existing
from spinneret.kernel.ids import NewId, is_id
from spinneret.kernel.service import service


@service
class UploadService:
    """Bodies of one tenant's requests. Unknown and foreign ids raise the same NotFound."""

    store: UploadStore
    clock: Clock
    new_id: NewId

    def begin(self, tenant: str) -> UploadForm:
        """Return a form that stores one body."""
        upload_id = self.new_id("upl")
        seconds = limits.UPLOAD_FORM_SECONDS
        url, fields = self.store.form(tenant, upload_id, seconds=seconds)
        expires_at = self.clock() + timedelta(seconds=seconds)
        return UploadForm(upload_id=upload_id, url=url, fields=fields, expires_at=expires_at)

    def body(self, tenant: str, upload_id: str) -> bytes:
        """Return the body exactly as posted; raise NotFound or BodyTooLarge."""
        body = self.store.read(tenant, upload_id) if is_id(upload_id) else None
        return existing(body, "upload")
