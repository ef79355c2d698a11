"""Rule function, every hour: deletes data whose retention has ended, if that is enabled."""

from spinneret.retention.wiring import cleanup_pass
from spinneret.runtime.scheduled import scheduled_entrypoint

handler = scheduled_entrypoint(cleanup_pass, "retention-cleanup")
