"""An API sends the gateway responses that its OpenAPI document declares.

Upstream: services/apigateway/helpers.py, import_api_from_openapi_spec ignores
`x-amazon-apigateway-gateway-responses`, and GatewayExceptionHandler sends neither templates nor
headers of a gateway response.
Effect: an unknown path gives 403 `{"message": "Missing Authentication Token"}`; on AWS it gives 404
in the API's own schema.
"""

import inspect
import io
from typing import Any

from localstack.constants import APPLICATION_JSON
from localstack.services.apigateway import helpers
from localstack.services.apigateway.legacy import provider
from localstack.services.apigateway.models import apigateway_stores
from localstack.services.apigateway.next_gen.execute_api.gateway_response import (
    build_gateway_response,
    get_gateway_response_or_default,
)
from localstack.services.apigateway.next_gen.execute_api.handlers.gateway_exception import (
    GatewayExceptionHandler,
)
from localstack.utils.json import parse_json_or_yaml
from localstack.utils.patch import patch
from localstack.utils.strings import to_str

_HEADER = "gatewayresponse.header."
_MESSAGE = "$context.error"
"""Part of upstream's own templates, which it sends by itself."""


def apply() -> None:
    module: Any = provider
    upstream = module.import_api_from_openapi_spec

    def import_api(rest_api: Any, context: Any, request: Any) -> Any:
        body = request["body"].read()
        imported = upstream(
            rest_api, context=context, request={**request, "body": io.BytesIO(body)}
        )
        store = apigateway_stores[context.account_id][context.region]
        store.rest_apis[request["restApiId"]].gateway_responses = _declared(body)
        return imported

    module.import_api_from_openapi_spec = import_api

    @patch(GatewayExceptionHandler.create_exception_response)
    def create_exception_response(
        original: Any, handler: GatewayExceptionHandler, exception: Any, context: Any
    ) -> Any:
        response = original(handler, exception, context)
        found = get_gateway_response_or_default(
            exception.type, context.deployment.rest_api.gateway_responses
        )
        template = (found.get("responseTemplates") or {}).get(APPLICATION_JSON, _MESSAGE)
        if _MESSAGE not in template:
            request_id = context.context_variables["requestId"]
            response.set_data(template.replace("$context.requestId", request_id))
        for name, value in (found.get("responseParameters") or {}).items():
            response.headers[name.removeprefix(_HEADER)] = value.strip("'")
        return response


def is_needed() -> bool:
    return "GATEWAY_RESPONSES" not in inspect.getsource(helpers.import_api_from_openapi_spec)


def _declared(body: bytes) -> dict[Any, Any]:
    document = parse_json_or_yaml(to_str(body))
    given = document.get(helpers.OpenAPIExt.GATEWAY_RESPONSES) or {}
    return {
        kind: build_gateway_response(
            kind,
            status_code=str(each["statusCode"]),
            response_parameters=each.get("responseParameters"),
            response_templates=each.get("responseTemplates"),
            default_response=False,
        )
        for kind, each in given.items()
    }
