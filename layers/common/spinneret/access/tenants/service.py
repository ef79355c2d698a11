"""Create, suspend and resume tenants (T-07)."""

from dataclasses import replace

from spinneret.access import limits
from spinneret.access.tenants.models import Tenant, TenantState
from spinneret.access.tenants.ports import TenantStore, WorkHolds
from spinneret.access.tenants.rules import check_tenant
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, NotFound, ValidationFailed
from spinneret.kernel.service import service


@service
class TenantService:
    """The operator's use cases. Each may be repeated after a failure."""

    tenants: TenantStore
    holds: WorkHolds
    clock: Clock

    def create(self, name: str) -> Tenant:
        """Create a tenant. Raises ValidationFailed, and Conflict if there is one of this name."""
        check_tenant(name)
        now = self.clock()
        tenant = Tenant(name=name, created_at=now, since=now)
        if self.tenants.is_known(name) or not self.tenants.add(tenant):
            raise Conflict("there is a tenant of this name")
        return tenant

    def get(self, name: str) -> Tenant:
        """Return the tenant. Raises NotFound.

        A tenant whose first key was issued without a row is active since then.
        """
        check_tenant(name)
        tenant = self.tenants.get(name)
        if tenant is None:
            if not self.tenants.is_known(name):
                raise NotFound("no such tenant")
            now = self.clock()
            tenant = Tenant(name=name, created_at=now, since=now)
        return tenant

    def suspend(self, name: str, reason: str) -> Tenant:
        """Refuse all credentials with the reason, and hold all work.

        Processes that know a key refuse it after KEY_KNOWN_SECONDS, a user after
        SESSION_CACHE_SECONDS. Raises NotFound, ValidationFailed, and Conflict during a deletion.
        """
        return self._stop(name, TenantState.SUSPENDED, reason)

    def resume(self, name: str) -> Tenant:
        """Accept credentials again and release work. Raises NotFound and Conflict."""
        former = self._changeable(name)
        now = self.clock()
        tenant = replace(former, state=TenantState.ACTIVE, reason=None, since=now)
        self.holds.release(name)
        self.tenants.mark(name, None)
        self.tenants.put(tenant)
        return tenant

    def begin_deletion(self, name: str) -> Tenant:
        """Stop the tenant for good. Raises NotFound; repeating it is no error."""
        return self._stop(name, TenantState.DELETING, "it is being deleted")

    def end_deletion(self, name: str) -> None:
        """Delete the rows that stop the tenant, after all its data."""
        self.holds.release(name)
        self.tenants.forget(name)

    def _stop(self, name: str, state: TenantState, reason: str) -> Tenant:
        if not 1 <= len(reason) <= limits.SUSPENSION_REASON_MAX_CHARS:
            raise ValidationFailed.of_field(
                "reason", f"1 to {limits.SUSPENSION_REASON_MAX_CHARS} characters"
            )
        former = self.get(name) if state is TenantState.DELETING else self._changeable(name)
        if (former.state, former.reason) == (state, reason):
            tenant = former
        else:
            is_stopped = former.state is not TenantState.ACTIVE
            since = former.since if is_stopped else self.clock()
            tenant = replace(former, state=state, reason=reason, since=since)
        self.tenants.put(tenant)
        self.tenants.mark(name, reason)
        self.holds.hold(name, tenant.since)
        return tenant

    def _changeable(self, name: str) -> Tenant:
        tenant = self.get(name)
        if tenant.state is TenantState.DELETING:
            raise Conflict("the tenant is being deleted")
        return tenant
