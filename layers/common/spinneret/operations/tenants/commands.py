"""The commands as a function receives them: `{"verb", "tenant", …}`."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from spinneret.access.tenants.models import Tenant
from spinneret.access.tenants.service import TenantService
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable, DomainError, ValidationFailed
from spinneret.kernel.service import service
from spinneret.operations.tenants.deleting import TenantDeletion
from spinneret.operations.tenants.exporting import TenantExport
from spinneret.operations.tenants.models import Answer, CommandProgress


@service
class TenantCommands:
    """Handler of the function that only the operator invokes."""

    tenants: TenantService
    exports: TenantExport
    deletions: TenantDeletion

    def __call__(self, request: Mapping[str, Any], remaining: Remaining) -> dict[str, Any]:
        """Carry out one command, or a part of it; return its Answer as JSON.

        A failed call may be repeated. Raises nothing that the operator should read.
        """
        try:
            answer = self._answer(request, remaining)
        except DependencyUnavailable as error:
            answer = Answer(progress=CommandProgress.WAITING, text=error.message)
        except DomainError as error:
            answer = Answer(progress=CommandProgress.REFUSED, text=error.message)
        return asdict(answer)

    def _answer(self, request: Mapping[str, Any], remaining: Remaining) -> Answer:
        name = str(request.get("tenant"))
        changes: Mapping[str, Callable[[], Tenant]] = {
            "create": lambda: self.tenants.create(name),
            "suspend": lambda: self.tenants.suspend(name, str(request.get("reason", ""))),
            "resume": lambda: self.tenants.resume(name),
        }
        match request.get("verb"):
            case str(verb) if verb in changes:
                return _changed(changes[verb]())
            case "export":
                return self.exports.run(name, request.get("export_id"), remaining)
            case "delete":
                return self.deletions.run(name, remaining)
        raise ValidationFailed.of_field("verb", "no such command")


def _changed(tenant: Tenant) -> Answer:
    return Answer(progress=CommandProgress.DONE, text=f"{tenant.name} is {tenant.state}")
