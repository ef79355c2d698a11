"""Rule function, daily: creates the key that signs access tokens, and rotates it every 90 days."""

from __future__ import annotations

from spinneret.access.wiring import key_rotation
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(key_rotation, "signing-keys")
