"""Routes: imports of many targets."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import IdempotencyMismatch, UrlBlocked, UrlInvalid
from spinneret.monitoring.imports.api_models import ImportRequest, ImportSubmission
from spinneret.monitoring.wiring import import_service
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Routes
from watch.imports_examples import IMPORT

routes = Routes(import_service)
router = routes.router


@router.post(
    "/v1/targets/import",
    **declared(
        Scope.WRITE,
        Permission.EDIT_TARGETS,
        {202: ImportSubmission},
        UrlInvalid,
        UrlBlocked,
        IdempotencyMismatch,
        idempotent=True,
        examples=IMPORT,
    ),
)
def import_targets(request: ImportRequest) -> Response[dict[str, Any]]:
    """Monitor all URLs of a CSV file or of a sitemap.

    The job's result contains an outcome for each URL.
    """
    caller = routes.principal
    key = request_key(router, caller, "/v1/targets/import")
    return submitted(routes.services.submit(caller.tenant, request, key))
