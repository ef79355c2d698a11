"""Carries out the operator's commands on tenants; `python -m spinneret.access.tenants` calls it."""

from spinneret.operations.tenants.wiring import tenant_commands
from spinneret.runtime.steps import step_entrypoint

handler = step_entrypoint(tenant_commands, "tenants")
