"""Rows of the tenancy table, as stored in all releases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.access.keys import items
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission, Role
from spinneret.access.sessions.items import SESSIONS
from spinneret.access.sessions.models import Session
from spinneret.access.tenants.dynamo import TENANTS
from spinneret.access.tenants.models import Tenant, TenantState
from spinneret.access.tokens.dynamo import KEY_SETS
from spinneret.access.tokens.models import KeySet, SigningKey
from spinneret.access.trail.dynamo import TRAIL
from spinneret.access.users.items import USERS
from spinneret.access.users.models import User
from spinneret.outbox.models import DomainEvent
from tests import factories
from tests.contract.exact_rows import check_row
from tests.fakes.time import START
from tests.rows import each_row

DAY = timedelta(days=1)
KEY = {
    "pk": "T#acme#KEYS",
    "sk": "key_1",
    "id": "key_1",
    "tenant": "acme",
    "name": "test",
    "secret_hash": "0" * 64,
    "prefix": "spn_abcd",
    "scopes": ["write"],
    "rate_limit_rpm": 60,
    "created_at": "2026-01-02T12:00:00.000000Z",
}
ENDED_KEY = {
    **KEY,
    "scopes": ["admin", "read", "write"],
    "rate_limit_rpm": 7,
    "permissions": ["crawl", "search"],
    "expires_at": "2026-01-11T12:00:00.000000Z",
    "revoked_at": "2026-01-03T12:00:00.000000Z",
    "purge_at": 1770033600,
}
EXPIRING_KEY = {**KEY, "expires_at": "2026-01-03T12:00:00.000000Z", "purge_at": 1770033600}
TICKET = {
    "pk": f"KEY#{'1' * 64}",
    "sk": "TICKET",
    "tenant": "acme",
    "key_id": "key_1",
    "job_id": "job_1",
    "expires_at": "2026-01-02T12:01:00.000000Z",
    "purge_at": 1767355260,
}

USER = {
    "pk": "T#acme#USERS",
    "sk": "usr_1",
    "tenant": "acme",
    "id": "usr_1",
    "email": "ada@example.org",
    "name": "Ada",
    "role": "admin",
    "is_active": True,
    "created_at": "2026-01-02T12:00:00.000000Z",
    "epoch": 0,
}
WHOLE_USER = {
    **USER,
    "is_active": False,
    "last_login_at": "2026-01-03T12:00:00.000000Z",
    "password_hash": "$argon2id$v=19$…",
    "invitation_hash": "2" * 64,
    "invited_until": "2026-01-04T12:00:00.000000Z",
    "epoch": 3,
    "suspended": "unpaid",
}
SESSION = {
    "pk": "T#acme#SESSIONS#usr_1",
    "sk": "ses_1",
    "tenant": "acme",
    "user_id": "usr_1",
    "id": "ses_1",
    "epoch": 3,
    "tag_key": "k",
    "token_hash": "3" * 64,
    "former_hash": "4" * 64,
    "rotated_at": "2026-01-03T12:00:00.000000Z",
    "created_at": "2026-01-02T12:00:00.000000Z",
    "expires_at": "2026-01-11T12:00:00.000000Z",
    "purge_at": 1768132800,
}
TENANT = {
    "pk": "T#acme#TENANT",
    "sk": "TENANT",
    "state": "suspended",
    "reason": "unpaid",
    "created_at": "2026-01-02T12:00:00.000000Z",
    "since": "2026-01-03T12:00:00.000000Z",
}
KEY_SET = {
    "pk": "SIGNING",
    "sk": "KEYS",
    "version": 2,
    "keys": [
        {
            "kid": "k1",
            "key_id": "arn:1",
            "public_key": "PEM",
            "active_from": "2026-01-02T12:00:00.000000Z",
        }
    ],
}
TRAIL_ROW = {
    "pk": "T#acme#TRAIL",
    "sk": "00000000000000000007#usr_1#user.invited",
    "occurred_at": "2026-01-02T12:00:00.000000Z",
    "data": '{"email":"ada@example.org"}',
    "purge_at": 1798891200,
}
ADA = User(
    tenant="acme",
    id="usr_1",
    email="ada@example.org",
    name="Ada",
    role=Role.ADMIN,
    created_at=START,
)


@each_row(
    [
        ("a key", (items.KEYS, factories.api_key(), KEY)),
        (
            "a key that expires",
            (items.KEYS, factories.api_key(expires_at=START + DAY), EXPIRING_KEY),
        ),
        (
            "a key with everything",
            (
                items.KEYS,
                factories.api_key(
                    scopes=frozenset(Scope),
                    rate_limit_rpm=7,
                    permissions=frozenset({Permission.CRAWL, Permission.SEARCH}),
                    expires_at=START + 9 * DAY,
                    revoked_at=START + DAY,
                ),
                ENDED_KEY,
            ),
        ),
        ("a ticket", (items.TICKETS, factories.stored_ticket(), TICKET)),
        ("a user", (USERS, ADA, USER)),
        (
            "a user with everything",
            (
                USERS,
                replace(
                    ADA,
                    is_active=False,
                    last_login_at=START + DAY,
                    password_hash="$argon2id$v=19$…",
                    invitation_hash="2" * 64,
                    invited_until=START + 2 * DAY,
                    epoch=3,
                    suspended="unpaid",
                ),
                WHOLE_USER,
            ),
        ),
        (
            "a session",
            (
                SESSIONS,
                Session(
                    tenant="acme",
                    user_id="usr_1",
                    id="ses_1",
                    epoch=3,
                    tag_key="k",
                    token_hash="3" * 64,
                    former_hash="4" * 64,
                    rotated_at=START + DAY,
                    created_at=START,
                    expires_at=START + 9 * DAY,
                ),
                SESSION,
            ),
        ),
        (
            "a tenant",
            (
                TENANTS,
                Tenant(
                    name="acme",
                    state=TenantState.SUSPENDED,
                    reason="unpaid",
                    created_at=START,
                    since=START + DAY,
                ),
                TENANT,
            ),
        ),
        (
            "signing keys",
            (
                KEY_SETS,
                KeySet(
                    version=2,
                    keys=(
                        SigningKey(kid="k1", key_id="arn:1", public_key="PEM", active_from=START),
                    ),
                ),
                KEY_SET,
            ),
        ),
        (
            "an event of the trail",
            (
                TRAIL,
                DomainEvent(
                    tenant="acme",
                    type="user.invited",
                    subject="usr_1",
                    sequence=7,
                    occurred_at=START,
                    data={"email": "ada@example.org"},
                ),
                TRAIL_ROW,
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)
