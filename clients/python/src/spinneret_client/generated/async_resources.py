"""The same code on an async transport: its calls return awaitables."""

from spinneret_client.generated.resources import *  # noqa: F403 - the stub has the names
