"""Permissions that routes declare, and the table of roles that have them (T-03)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Permission(StrEnum):
    """Action that a route declares; a route declares exactly one."""

    CREATE_PRODUCT = "create_product"
    """Create, change and delete products."""
    PUBLISH_PRODUCT = "publish_product"
    """Start and control marketplace jobs and batches."""
    VIEW_PRODUCTS = "view_products"
    """Read products, listings, and the jobs that publish them."""
    VIEW_ORDERS = "view_orders"
    """Read marketplace orders."""
    MANAGE_CONNECTIONS = "manage_connections"
    """Connect and disconnect marketplaces."""
    VIEW_CONNECTIONS = "view_connections"
    """Read the state of marketplace connections."""
    CRAWL = "crawl"
    """Start and cancel crawls, discoveries, and runs of sources."""
    CONFIGURE_CRAWLS = "configure_crawls"
    """Change crawl configurations, sources, domains and proxies."""
    VIEW_CRAWLS = "view_crawls"
    """Read crawls and everything that configures them."""
    SEARCH = "search"
    """Search the tenant's documents."""
    EDIT_DOCUMENTS = "edit_documents"
    """Change documents, collections, tags and caches; rebuild the index."""
    VIEW_DOCUMENTS = "view_documents"
    """Read documents, collections, tags and figures of caches."""
    RUN_AUDITS = "run_audits"
    """Start, schedule and cancel audits."""
    VIEW_AUDITS = "view_audits"
    """Read audits and their schedules."""
    EDIT_TARGETS = "edit_targets"
    """Change targets, maintenance windows and the status page."""
    VIEW_TARGETS = "view_targets"
    """Read targets, maintenance windows, the status page and metrics."""
    CONTROL_JOBS = "control_jobs"
    """Cancel, pause, resume and retry any job."""
    VIEW_JOBS = "view_jobs"
    """Read any job and its events."""
    MANAGE_WEBHOOKS = "manage_webhooks"
    """Change webhooks and their secrets."""
    VIEW_WEBHOOKS = "view_webhooks"
    """Read webhooks and their deliveries."""
    UPLOAD = "upload"
    """Upload the body of a large request."""
    MANAGE_KEYS = "manage_keys"
    """Issue, read and revoke API keys."""
    MANAGE_USERS = "manage_users"
    """Invite, read, change and delete people."""
    USE_ACCOUNT = "use_account"
    """Read one's own account; change one's own password."""


class Role(StrEnum):
    """Role of a person."""

    ADMIN = "admin"
    SELLER = "seller"
    VIEWER = "viewer"


ALL: Final = frozenset(Permission)

_READING: Final = frozenset(
    {
        Permission.SEARCH,
        Permission.USE_ACCOUNT,
        Permission.VIEW_AUDITS,
        Permission.VIEW_CONNECTIONS,
        Permission.VIEW_CRAWLS,
        Permission.VIEW_DOCUMENTS,
        Permission.VIEW_JOBS,
        Permission.VIEW_ORDERS,
        Permission.VIEW_PRODUCTS,
        Permission.VIEW_TARGETS,
        Permission.VIEW_WEBHOOKS,
    }
)

ROLE_PERMISSIONS: Final[Mapping[Role, frozenset[Permission]]] = {
    Role.ADMIN: ALL,
    Role.SELLER: _READING
    | {
        Permission.CREATE_PRODUCT,
        Permission.MANAGE_CONNECTIONS,
        Permission.PUBLISH_PRODUCT,
        Permission.UPLOAD,
    },
    Role.VIEWER: _READING,
}
