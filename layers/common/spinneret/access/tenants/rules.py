"""Names of tenants, and the refusal of suspended ones."""

import re
from typing import Final

from spinneret.kernel.errors import TenantSuspended, ValidationFailed

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")  # part of keys, so no `#` or `/`


def is_tenant(name: str) -> bool:
    """Return whether this can be a tenant's name."""
    return _NAME.fullmatch(name) is not None


def check_tenant(name: str) -> None:
    """Raise ValidationFailed for what can't be a tenant's name."""
    if not is_tenant(name):
        raise ValidationFailed.of_field("tenant", "not a tenant name")


def require_active(suspended: str | None) -> None:
    """Raise TenantSuspended if there is a reason; credentials' rows have it as `suspended`."""
    if suspended is not None:
        raise TenantSuspended(f"the tenant is suspended: {suspended}")
