"""Routes: uploads of request bodies that exceed the limit of a request."""

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.access.uploads.api_models import UploadView, upload_view
from spinneret.operations.wiring import core_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Routes

routes = Routes(core_api)
router = routes.router


@router.post("/api/v1/uploads", **declared(Scope.WRITE, Permission.UPLOAD, {201: UploadView}))
def begin_upload() -> Response[UploadView]:
    """Start the upload of a request body of up to 10 MB.

    Post the form, then send the request without a body and with the header `Upload-Id`. A request
    itself can carry up to 5 MB.
    """
    uploads = routes.services.uploads
    return created_secret(upload_view(uploads.begin(routes.tenant)))
