"""All tables and the forms of their keys: whose a row is.

A row whose partition begins with `T#<tenant>#` is that tenant's; TABLES declares each other form.
Attributes of indexes (due lists, shards) are part of their rows and vanish with them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spinneret.access.wiring import TENANCY_TABLE
from spinneret.audits.models import RunRef
from spinneret.audits.wiring import AUDITS_TABLE
from spinneret.content.caches.wiring import CACHES_TABLE
from spinneret.content.wiring import DOCUMENTS_TABLE, LABELS_TABLE
from spinneret.crawl.deep.wiring import FRONTIER_TABLE
from spinneret.crawl.wiring import PLANS_TABLE
from spinneret.events.wiring import WEBHOOKS_TABLE
from spinneret.jobs.wiring import EVENTS_TABLE, IDEMPOTENCY_TABLE, JOBS_TABLE
from spinneret.kernel.settings import Variable
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.monitoring.variables import CHECKS_TABLE, TARGETS_TABLE
from spinneret.web.hosts.wiring import DOMAINS_TABLE

Row = Mapping[str, Any]
"""Key of a row, and its attributes `tenant` and `session_id`."""
NOBODY: Final = ""


class UnknownForm(Exception):
    """Raised for a row whose key has no declared form."""


def _by_attribute(row: Row) -> str:
    return str(row.get("tenant", NOBODY))


def _by_session(row: Row) -> str:
    return RunRef.of_session(row["session_id"]).tenant if row.get("session_id") else NOBODY


def _shared(_: Row) -> str:
    return NOBODY


@dataclass(frozen=True)
class Form:
    """A form of key that doesn't begin with the tenant."""

    prefix: str
    """Begin of the partition key."""
    owner: Callable[[Row], str]
    """Function that returns the tenant of a row, or NOBODY."""
    why: str
    """Why the partition doesn't begin with the tenant."""


@dataclass(frozen=True)
class TableRows:
    """A table and the other forms of its keys."""

    variable: Variable[str]
    """Variable that names the table."""
    others: tuple[Form, ...] = ()
    has_sort_key: bool = True


TABLES: Final[Mapping[str, TableRows]] = {
    "Jobs": TableRows(
        JOBS_TABLE,
        (Form("CONN#", _by_attribute, "a WebSocket message names only its connection"),),
    ),
    "Events": TableRows(EVENTS_TABLE),
    "Idempotency": TableRows(IDEMPOTENCY_TABLE, has_sort_key=False),
    "Webhooks": TableRows(WEBHOOKS_TABLE),
    "Domains": TableRows(
        DOMAINS_TABLE,
        (
            Form(
                "DOMAIN#",
                _by_session,
                "pace and breaker of a host hold for all tenants; its session names an audit",
            ),
        ),
    ),
    "Frontier": TableRows(FRONTIER_TABLE),
    "CrawlDefinitions": TableRows(PLANS_TABLE),
    "Documents": TableRows(
        DOCUMENTS_TABLE,
        (Form("UPKEEP#", _shared, "positions of passes over all documents, soon replaced"),),
        has_sort_key=False,
    ),
    "TagsAndCollections": TableRows(LABELS_TABLE),
    "Caches": TableRows(CACHES_TABLE, has_sort_key=False),
    "Audits": TableRows(AUDITS_TABLE),
    "Targets": TableRows(
        TARGETS_TABLE,
        (
            Form("SLUG#", _by_attribute, "readers of a status page name only its slug"),
            Form("CALL#", _by_attribute, "the caller of a heartbeat has only its token"),
            Form("SLOT#", _shared, "slots of check workers"),
            Form("HOSTSLOT#", _shared, "a host allows one check at a time, of all tenants"),
            Form("TICK", _shared, "slot of the tick"),
        ),
    ),
    "Checks": TableRows(CHECKS_TABLE),
    "Marketplace": TableRows(
        MARKETPLACE_TABLE,
        (
            Form("SELLERS", lambda row: str(row["sk"]).rpartition("#")[2], "walked by a pass"),
            Form("OPENSALES", lambda row: str(row["sk"]).partition("#")[0], "walked by a pass"),
            Form("ACCOUNT#", _by_attribute, "a marketplace's webhook names only the account"),
            Form("POSITIONS", _shared, "positions of the walks, soon replaced"),
        ),
    ),
    "Tenancy": TableRows(
        TENANCY_TABLE,
        (
            Form("KEY#", _by_attribute, "a request names only its secret"),
            Form("SIGNING", _shared, "signing keys of the stage"),
        ),
    ),
}
"""Logical id in the templates → table. Credentials are last: until then they answer 403."""


def owner_of(table: TableRows, row: Row) -> str:
    """Return the tenant of a row, or NOBODY. Raises UnknownForm."""
    partition = str(row["pk"])
    if partition.startswith("T#"):
        return partition.split("#", 2)[1]
    for form in table.others:
        if partition.startswith(form.prefix):
            return form.owner(row)
    raise UnknownForm
