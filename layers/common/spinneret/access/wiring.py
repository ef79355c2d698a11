"""Select the adapters of keys, uploads, and the services that admit requests."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.ports import People
from spinneret.access.keys.service import KeyService
from spinneret.access.sessions.dynamo import DynamoFailureStore, DynamoSessionStore
from spinneret.access.sessions.people import SignedInPeople
from spinneret.access.sessions.service import SessionService
from spinneret.access.sessions.sign_in import SignIn
from spinneret.access.tokens.dynamo import DynamoKeySetStore
from spinneret.access.tokens.kms import KmsMac, KmsSigner
from spinneret.access.tokens.rotation import KeyRotation, RotationResult
from spinneret.access.tokens.service import TokenIssuer, TokenVerifier
from spinneret.access.trail.dynamo import DynamoTrail, Recorded, recorded
from spinneret.access.trail.ports import Trail
from spinneret.access.uploads.s3 import S3UploadStore
from spinneret.access.uploads.service import UploadService
from spinneret.access.users.argon2_hasher import Argon2Hasher
from spinneret.access.users.dynamo import DynamoUserStore
from spinneret.access.users.passwords import PasswordService
from spinneret.access.users.service import UserService
from spinneret.aws.kms import kms_client
from spinneret.aws.stage import Stage, reads
from spinneret.aws.types import DynamoDBClient, KMSClient
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import integer, names, text

TENANCY_TABLE: Final = text("TENANCY_TABLE")
"""Keys, tickets and rate windows."""
UPLOADS_BUCKET: Final = text("UPLOADS_BUCKET")
RATE_LIMIT__API_RPM: Final = integer("RATE_LIMIT__API_RPM", limits.KEY_REQUESTS_PER_MINUTE)
"""Limit of keys that are issued without one."""

TOKEN_ISSUER: Final = text("TOKEN_ISSUER", "spinneret")
"""Issuer that access tokens name."""
TOKEN_AUDIENCE: Final = text("TOKEN_AUDIENCE", "spinneret-api")
"""Audience that access tokens name."""
USER_REQUESTS_PER_MINUTE: Final = integer(
    "USER_REQUESTS_PER_MINUTE", limits.USER_REQUESTS_PER_MINUTE
)
"""Limit of each person."""
REFRESH_KEY_ID: Final = text("REFRESH_KEY_ID")
"""KMS key by which refresh tokens follow from each other."""
EVENTS_TABLE: Final = text("EVENTS_TABLE")
"""The outbox."""
STAGE: Final = text("STAGE")
"""Name of the stage; its signing keys have a tag with it."""
ALLOWED_ORIGINS: Final = names("ALLOWED_ORIGINS", frozenset())
"""Origins of web pages that may call the API; its own may in any case."""
ADMITTING: Final = (TENANCY_TABLE, TOKEN_ISSUER, TOKEN_AUDIENCE, USER_REQUESTS_PER_MINUTE)
"""Variables of every function that checks credentials."""


@dataclass(frozen=True, kw_only=True)
class AdmissionServices:
    """Services by which every API function admits requests."""

    keys: KeyService
    """Check credentials."""
    uploads: UploadService
    """Return bodies that were uploaded before their request."""
    origins: frozenset[str]
    """See ALLOWED_ORIGINS."""


@reads(*ADMITTING, UPLOADS_BUCKET, ALLOWED_ORIGINS)
def admitting(stage: Stage) -> AdmissionServices:
    """Build the admission services of this stage."""
    return AdmissionServices(
        keys=key_service(stage), uploads=upload_service(stage), origins=stage[ALLOWED_ORIGINS]
    )


def key_service(stage: Stage) -> KeyService:
    """Build the key service of this stage for functions that issue no keys."""
    return keys_in(stage.dynamodb, stage[TENANCY_TABLE], people=_people(stage))


def issuing_key_service(stage: Stage) -> KeyService:
    """Build the key service of this stage."""
    rpm = stage[RATE_LIMIT__API_RPM]
    return keys_in(stage.dynamodb, stage[TENANCY_TABLE], rpm, people=_people(stage))


def keys_in(
    client: DynamoDBClient,
    table: str,
    default_rpm: int = limits.KEY_REQUESTS_PER_MINUTE,
    people: People | None = None,
) -> KeyService:
    """Build the key service of a table; without `people` it accepts keys only."""
    return KeyService(
        keys=DynamoKeyStore(client, table),
        windows=DynamoRateLimitStore(client, table),
        clock=utc_now,
        new_id=id_maker(utc_now),
        random=os.urandom,
        default_rpm=default_rpm,
        people=people,
    )


@dataclass(frozen=True, kw_only=True)
class PeopleApi:
    """Services that the routes of users and sessions use."""

    users: UserService
    sessions: SessionService
    trail: Trail
    verifier: TokenVerifier
    origins: frozenset[str]


@reads(
    TENANCY_TABLE,
    TOKEN_ISSUER,
    TOKEN_AUDIENCE,
    REFRESH_KEY_ID,
    STAGE,
    ALLOWED_ORIGINS,
    EVENTS_TABLE,
)
def people_api(stage: Stage) -> PeopleApi:
    """Build the services of users and sessions."""
    client, table, events = stage.dynamodb, stage[TENANCY_TABLE], stage[EVENTS_TABLE]
    users = user_service(client, table, recorded(table, events))
    sessions = SessionService(
        users=users.users,
        sessions=DynamoSessionStore(client, table, recorded(table, events)),
        issuer=_issuer(stage),
        successor=KmsMac(kms_client(), stage[REFRESH_KEY_ID]),
        clock=stage.clock,
    )
    return PeopleApi(
        users=users,
        sessions=sessions,
        trail=DynamoTrail(client, table, events),
        verifier=_verifier(stage),
        origins=stage[ALLOWED_ORIGINS],
    )


@dataclass(frozen=True, kw_only=True)
class SignInApi:
    """Services of the routes that hash passwords."""

    sign_in: SignIn
    passwords: PasswordService
    origins: frozenset[str]


@reads(TENANCY_TABLE, TOKEN_ISSUER, TOKEN_AUDIENCE, STAGE, ALLOWED_ORIGINS, EVENTS_TABLE)
def sign_in_api(stage: Stage) -> SignInApi:
    """Build the services of sign-in and passwords."""
    client, table, events = stage.dynamodb, stage[TENANCY_TABLE], stage[EVENTS_TABLE]
    users, hasher = DynamoUserStore(client, table, recorded(table, events)), Argon2Hasher()
    failures, trail = DynamoFailureStore(client, table), DynamoTrail(client, table, events)
    sign_in = SignIn(
        users=users,
        sessions=DynamoSessionStore(client, table, recorded(table, events)),
        failures=failures,
        trail=trail,
        windows=DynamoRateLimitStore(client, table),
        hasher=hasher,
        issuer=_issuer(stage),
        clock=stage.clock,
        new_id=stage.new_id,
        random=os.urandom,
    )
    return SignInApi(
        sign_in=sign_in,
        passwords=PasswordService(
            users=users, failures=failures, trail=trail, hasher=hasher, clock=stage.clock
        ),
        origins=stage[ALLOWED_ORIGINS],
    )


@reads(TENANCY_TABLE, STAGE)
def key_rotation(stage: Stage) -> Callable[[], RotationResult]:
    """Build the scheduled rotation of signing keys."""
    return rotation_in(stage.dynamodb, stage[TENANCY_TABLE], kms_client(), stage[STAGE]).run


def user_service(
    client: DynamoDBClient, table: str, recorded: Recorded = lambda _: []
) -> UserService:
    """Build the service of a table's people; without `recorded` it only invites."""
    return UserService(
        users=DynamoUserStore(client, table, recorded),
        clock=utc_now,
        new_id=id_maker(utc_now),
        random=os.urandom,
    )


def rotation_in(client: DynamoDBClient, table: str, kms: KMSClient, stage: str) -> KeyRotation:
    """Build the rotation of a stage's signing keys."""
    return KeyRotation(
        keys=DynamoKeySetStore(client, table),
        signer=KmsSigner(kms, stage),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def _people(stage: Stage) -> SignedInPeople:
    client, table = stage.dynamodb, stage[TENANCY_TABLE]
    return SignedInPeople(
        users=DynamoUserStore(client, table),
        sessions=DynamoSessionStore(client, table),
        verifier=_verifier(stage),
        clock=stage.clock,
        requests_per_minute=stage[USER_REQUESTS_PER_MINUTE],
    )


def _issuer(stage: Stage) -> TokenIssuer:
    return TokenIssuer(
        keys=DynamoKeySetStore(stage.dynamodb, stage[TENANCY_TABLE]),
        signer=KmsSigner(kms_client(), stage[STAGE]),
        issuer=stage[TOKEN_ISSUER],
        audience=stage[TOKEN_AUDIENCE],
        clock=stage.clock,
        random=os.urandom,
    )


def _verifier(stage: Stage) -> TokenVerifier:
    return TokenVerifier(
        keys=DynamoKeySetStore(stage.dynamodb, stage[TENANCY_TABLE]),
        issuer=stage[TOKEN_ISSUER],
        audience=stage[TOKEN_AUDIENCE],
        clock=stage.clock,
    )


def upload_service(stage: Stage) -> UploadService:
    """Build the upload service of this stage."""
    return UploadService(
        store=S3UploadStore(stage.s3, stage[UPLOADS_BUCKET]),
        clock=stage.clock,
        new_id=stage.new_id,
    )
