"""The stage of a function: its variables, clients, clock and ids; and the functions' builders.

    @reads(LANES_URL)
    def redrive_pass(stage: Stage) -> Callable[[], RedriveResult]:
        return Redrive(SqsDeadLetterQueues(stage.sqs, stage[LANES_URL]), all_lanes()).run

A function's entry point makes its stage at the first invocation, from the variables that its
builders declare; template.yaml gives it these variables and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import uuid4

from spinneret.aws.types import DynamoDBClient, S3Client, SFNClient, SQSClient
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import Variable, numbers, read, text

if TYPE_CHECKING:
    import httpx

    from spinneret.aws.kms import KmsSealer
    from spinneret.aws.secrets_manager import SecretsManagerClient

CONTENT_BUCKET: Final = text("CONTENT_BUCKET")
SECRETS_KEY_ID: Final = text("SECRETS_KEY_ID")
S3_ADDRESSING_STYLE: Final = text("S3_ADDRESSING_STYLE", "auto")
"""Form of buckets' URLs: auto, path or virtual."""
RETRY_DELAYS: Final = numbers("JOB__RETRY_DELAYS_S", bounds.RETRY_DELAYS_SECONDS)
"""Seconds before each retry of a job; the last one doubles for further retries."""


class Stage:
    """Variables, clients, clock and ids. Clients are made at first use and shared.

    Their modules are imported then too: boto3 takes a sixth of a second, and not all functions
    have clients. Two variables need no declaration, since every function has them: RETRY_DELAYS
    and S3_ADDRESSING_STYLE.
    """

    def __init__(self, env: Mapping[str, str], declared: Iterable[Variable[Any]]) -> None:
        """Read all declared variables. Raises SettingsError."""
        self._values = read(env, (*declared, RETRY_DELAYS, S3_ADDRESSING_STYLE))
        self.retry_delays: tuple[float, ...] = self._values[RETRY_DELAYS.name]
        self._s3_addressing_style: Literal["auto", "path", "virtual"] = self._values[
            S3_ADDRESSING_STYLE.name
        ]
        self._made: dict[Callable[[Stage], Any], Any] = {}
        self.clock = utc_now
        self.new_id = id_maker(utc_now)

    def __getitem__[T](self, variable: Variable[T]) -> T:
        """Return the value of a declared variable. Raises KeyError for any other."""
        value: T = self._values[variable.name]
        return value

    def once[T](self, make: Callable[[Stage], T]) -> T:
        """Return what the function made of this stage at the first call; builders share it."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made

    def new_token(self) -> str:
        """Return a random owner or lock token."""
        return uuid4().hex

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        """Tables."""
        from spinneret.aws import clients  # noqa: PLC0415 - see the class

        return clients.dynamodb_client()

    @cached_property
    def sqs(self) -> SQSClient:
        """Queues."""
        from spinneret.aws import clients  # noqa: PLC0415 - see the class

        return clients.sqs_client()

    @cached_property
    def s3(self) -> S3Client:
        """Buckets."""
        from spinneret.aws import clients  # noqa: PLC0415 - see the class

        return clients.s3_client(self._s3_addressing_style)

    @cached_property
    def step_functions(self) -> SFNClient:
        """Executions of state machines."""
        from spinneret.aws import clients  # noqa: PLC0415 - see the class

        return clients.stepfunctions_client()

    @cached_property
    def secrets(self) -> SecretsManagerClient:
        """Secrets that an operator stores."""
        from spinneret.aws import secrets_manager  # noqa: PLC0415 - see the class

        return secrets_manager.secrets_client()

    @cached_property
    def sealer(self) -> KmsSealer:
        """Encryption of tenants' secrets with the stage's key, SECRETS_KEY_ID."""
        from spinneret.aws import kms  # noqa: PLC0415 - see the class

        return kms.KmsSealer(kms.kms_client(), self[SECRETS_KEY_ID])

    @cached_property
    def http(self) -> httpx.Client:
        """HTTP to servers of this application; connections are kept for the process's life."""
        import httpx  # noqa: PLC0415 - see the class

        return httpx.Client(trust_env=False)


@dataclass(frozen=True)
class Builder[S]:
    """A function that builds services of a stage, and the variables that it reads."""

    build: Callable[[Stage], S]
    reads: tuple[Variable[Any], ...] = ()

    def __call__(self, stage: Stage) -> S:
        """Build the services of a stage that has the variables."""
        return self.build(stage)

    def of(self, env: Mapping[str, str]) -> S:
        """Build the services of an environment. Raises SettingsError."""
        return self.build(Stage(env, self.reads))

    def then[R](self, use: Callable[[S], R]) -> Builder[R]:
        """Return a builder of a part of the services."""
        return Builder(lambda stage: use(self.build(stage)), self.reads)


def reads[S](*variables: Variable[Any]) -> Callable[[Callable[[Stage], S]], Builder[S]]:
    """Declare all variables that a function reads, by itself and through what it calls."""
    return lambda build: Builder(build, variables)
