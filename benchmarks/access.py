"""Measure time and AWS calls of an authenticated request, with a key and with a user's token.

    .venv/bin/python benchmarks/access.py

The benchmark uses the product's services and adapters; moto in this process replaces AWS. It counts
calls at the boto3 clients. The time includes moto, which answers a call in a few milliseconds.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / each) for each in ("layers/common", ".")]

import boto3
from moto import mock_aws

from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import ROLE_PERMISSIONS, Role
from spinneret.access.sessions.dynamo import DynamoSessionStore
from spinneret.access.sessions.models import Session
from spinneret.access.sessions.people import SignedInPeople
from spinneret.access.tokens.dynamo import DynamoKeySetStore
from spinneret.access.tokens.kms import KmsSigner
from spinneret.access.tokens.rotation import KeyRotation
from spinneret.access.tokens.service import TokenIssuer, TokenVerifier
from spinneret.access.trail.rules import account_event
from spinneret.access.users.dynamo import DynamoUserStore
from spinneret.access.users.service import UserService
from spinneret.kernel.ids import id_maker
from tests.fakes.time import HandClock

TABLE: Final = "tenancy"
TOKENS: Final = {"issuer": "spinneret", "audience": "spinneret-api"}
WARM: Final = 200
MINUTE: Final = 60


class Bench:
    """A tenant with a key and a signed-in user, whose AWS clients count their calls."""

    def __init__(self) -> None:
        session = boto3.session.Session()
        self.calls: Counter[str] = Counter()
        session.events.register("before-parameter-build", self._count)
        self.dynamodb: Any = session.resource("dynamodb").meta.client
        self.clock = HandClock()
        self.new_id = id_maker(self.clock)
        self.key_sets = DynamoKeySetStore(self.dynamodb, TABLE)
        self.users = DynamoUserStore(self.dynamodb, TABLE)
        self.sessions = DynamoSessionStore(self.dynamodb, TABLE)
        self.dynamodb.create_table(
            TableName=TABLE,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
            ],
        )
        self.signer = KmsSigner(session.client("kms"), "local")
        _, self.key = self.process().issue("acme", "bench", frozenset({Scope.READ}))
        self.token = self._signed_in()

    def process(self) -> KeyService:
        """Return the key service of a new process, without any cached data."""
        verifier = TokenVerifier(keys=self.key_sets, clock=self.clock, **TOKENS)
        people = SignedInPeople(
            users=self.users,
            sessions=self.sessions,
            verifier=verifier,
            clock=self.clock,
            requests_per_minute=6000,
        )
        return KeyService(
            keys=DynamoKeyStore(self.dynamodb, TABLE),
            windows=DynamoRateLimitStore(self.dynamodb, TABLE),
            clock=self.clock,
            new_id=self.new_id,
            random=os.urandom,
            default_rpm=6000,
            people=people,
        )

    def measured(self, action: Callable[[], object], times: int = 1) -> tuple[float, str]:
        """Return the mean milliseconds and calls of one repetition."""
        before, started = Counter(self.calls), time.perf_counter()
        for _ in range(times):
            action()
        passed = (time.perf_counter() - started) * 1000 / times
        made = self.calls - before
        listed = ", ".join(f"{made[name] / times:.3g} {name}" for name in sorted(made))
        return passed, listed or "none"

    def _signed_in(self) -> str:
        KeyRotation(
            keys=self.key_sets, signer=self.signer, clock=self.clock, new_id=self.new_id
        ).run()
        people = UserService(
            users=self.users, clock=self.clock, new_id=self.new_id, random=os.urandom
        )
        inviting = ROLE_PERMISSIONS[Role.ADMIN]
        user, _ = people.invite("acme", "maya@example.com", "Maya", Role.VIEWER, inviting)
        session = Session(
            tenant="acme",
            user_id=user.id,
            id=self.new_id("s"),
            epoch=user.epoch,
            token_hash="",
            created_at=self.clock(),
            expires_at=self.clock().replace(year=2100),
        )
        self.sessions.add(session, account_event(user, "user.signed_in", self.clock()))
        issuer = TokenIssuer(
            keys=self.key_sets,
            signer=self.signer,
            clock=self.clock,
            random=os.urandom,
            **TOKENS,
        )
        return issuer.issue(user, session.id)

    def _count(self, model: Any, **_: Any) -> None:
        self.calls[f"{model.service_model.service_name}.{model.name}"] += 1


def rows(bench: Bench, name: str, secret: str) -> list[str]:
    """Return the rows of the table for one credential."""
    service = bench.process()

    def request(seconds: float = 0.0) -> None:
        bench.clock.advance(seconds)
        status = service.take(service.authenticate(secret))
        assert status is not None
        assert status.admitted

    found = {
        "first of a process": bench.measured(lambda: request(60.0)),
        "warm, same second": bench.measured(request, WARM // 10),
        "one each second, mean of a minute": bench.measured(lambda: request(1.0), MINUTE),
        "check of the credential alone, warm": bench.measured(
            lambda: service.authenticate(secret), WARM
        ),
    }
    return [f"| {name} | {what} | {ms:.2f} | {calls} |" for what, (ms, calls) in found.items()]


def main() -> None:
    """Print the table."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "000000000000",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with mock_aws():
        bench = Bench()
        bench.process().authenticate(bench.token)  # loads modules before the measurement
        print("| credential | request | ms with moto | calls of one request |")
        print("|---|---|---|---|")
        for name, secret in (("key", bench.key), ("user", bench.token)):
            print("\n".join(rows(bench, name, secret)))


if __name__ == "__main__":
    main()
