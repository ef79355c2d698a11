"""Rule function, daily: creates the key that signs access tokens, and rotates it every 90 days."""

from spinneret.access.wiring import key_rotation
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(key_rotation, "signing-keys")
