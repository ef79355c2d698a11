"""Sending to WebSocket clients through API Gateway's `@connections` API."""

from botocore.exceptions import BotoCoreError, ClientError

from spinneret.aws.clients import error_code
from spinneret.aws.types import ApiGatewayManagementApiClient
from spinneret.kernel.errors import DependencyUnavailable


class ApiGatewaySockets:
    """Implements Sockets. The client's timeout is PUSH_SECONDS; it doesn't retry."""

    def __init__(self, client: ApiGatewayManagementApiClient) -> None:
        self._client = client

    def post(self, connection_id: str, text: str) -> bool:
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=text.encode())
        except ClientError as error:
            if error_code(error) == "GoneException":
                return False
            raise DependencyUnavailable("websocket") from error
        except BotoCoreError as error:
            raise DependencyUnavailable("websocket") from error
        return True

    def end(self, connection_id: str) -> None:
        try:
            self._client.delete_connection(ConnectionId=connection_id)
        except ClientError as error:
            if error_code(error) != "GoneException":
                raise DependencyUnavailable("websocket") from error
        except BotoCoreError as error:
            raise DependencyUnavailable("websocket") from error
