"""API Gateway passes a form's body on unchanged.

Upstream: services/apigateway/next_gen/execute_api/handlers/parse.py calls rolo's restore_payload,
which parses a form and encodes its fields again.
Effect: JSON that `curl -d` calls a form arrives percent-encoded, with `=` at its end.
"""

import inspect
from typing import Any

from localstack.services.apigateway.next_gen.execute_api.handlers import parse
from rolo.request import restore_payload


def apply() -> None:
    module: Any = parse
    upstream = module.restore_payload

    def body_of(request: Any) -> bytes:
        # The first read returns the bytes if nothing parsed them; later ones return the copy.
        body: bytes = request.get_data(cache=True, parse_form_data=False)
        return body or upstream(request)

    module.restore_payload = body_of


def is_needed() -> bool:
    return "urlencode(" in inspect.getsource(restore_payload)
