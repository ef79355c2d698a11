"""Limits of the gateway.

AWS: "Quotas for configuring and running a WebSocket API", API Gateway Developer Guide.
"""

from typing import Final

MESSAGE_MAX_BYTES: Final = 128 * 1024  # AWS, in both directions
INTEGRATION_SECONDS: Final = 29.0  # AWS
IDLE_SECONDS: Final = 600.0  # AWS
CONNECTION_SECONDS: Final = 7200.0  # AWS

# A client that does not read delays a call of @connections this long, but no other client.
SEND_SECONDS: Final = 1.0
# Messages waiting for the function; above this, the client's messages are no longer read.
MESSAGES_WAITING: Final = 16
PING_SECONDS: Final = 20.0
LOOKUP_SECONDS: Final = 10.0
# Time for invocations of $disconnect in progress at SIGTERM.
SHUTDOWN_GRACE_SECONDS: Final = 1
