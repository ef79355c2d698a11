"""The tenant that a row or an object belongs to (T-07)."""

from typing import Any

import pytest

from spinneret.operations.tenants.s3 import is_of
from spinneret.operations.tenants.tables import NOBODY, TABLES, UnknownForm, owner_of


def row(pk: str, sk: str = "X", **more: str) -> dict[str, Any]:
    return {"pk": pk, "sk": sk, **more}


@pytest.mark.parametrize(
    ("table", "key", "owner"),
    [
        ("Jobs", row("T#acme#JOB#job_1"), "acme"),
        ("Jobs", row("T#acme-2#JOB#acme"), "acme-2"),
        ("Jobs", row("CONN#one", "CONN", tenant="acme"), "acme"),
        ("Tenancy", row("KEY#0a", "KEY", tenant="acme"), "acme"),
        ("Tenancy", row("KEY#0a", "TICKET", tenant="acme"), "acme"),
        ("Tenancy", row("SIGNING", "KEYS"), NOBODY),
        ("Tenancy", row("T##RATE#ADDRESS#::1", "SLOTS"), NOBODY),
        ("Marketplace", row("SELLERS", "ebay#acme"), "acme"),
        ("Marketplace", row("SELLERS", "acme#ebay"), "ebay"),
        ("Marketplace", row("OPENSALES", "acme#ebay#1#2"), "acme"),
        ("Marketplace", row("ACCOUNT#ebay#acme", "TENANT", tenant="other"), "other"),
        ("Targets", row("SLUG#acme", "SLUG", tenant="other"), "other"),
        ("Targets", row("CALL#acme", "CALL", tenant="other"), "other"),
        ("Targets", row("HOSTSLOT#acme", "SLOT"), NOBODY),
        ("Domains", row("DOMAIN#acme", "PACE"), NOBODY),
        ("Domains", row("DOMAIN#other", "SESSION", session_id="acme/audit_1/2"), "acme"),
        ("Documents", row("UPKEEP#index"), NOBODY),
    ],
)
def test_a_row_is_its_tenants(table: str, key: dict[str, Any], owner: str) -> None:
    assert owner_of(TABLES[table], key) == owner


def test_a_form_that_no_table_declares_is_noticed() -> None:
    with pytest.raises(UnknownForm):
        owner_of(TABLES["Jobs"], row("NEW#acme"))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("T/acme/content/0a.md", True),
        ("parts/T/acme/doc_1/0a.json", True),
        ("exports/T/acme/export_1/state.json", True),
        ("T/acme-2/content/0a.md", False),
        ("T/other/T/acme/file", False),
        ("models/acme", False),
        ("T/acme", True),
    ],
)
def test_an_object_is_its_tenants(key: str, expected: bool) -> None:
    assert is_of(key, "acme") is expected
