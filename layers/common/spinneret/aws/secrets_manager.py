"""This application's secrets in AWS Secrets Manager."""

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

import boto3
from botocore.config import Config

from spinneret.aws.clients import CONFIG, translate_aws_errors
from spinneret.kernel import bounds

FRESH_SECONDS: Final = 300.0  # a rotated secret is read again within this time


class SecretsManagerClient(Protocol):
    """The methods of boto3's client that are used; its type package isn't installed."""

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        """Return the current version of a secret."""


def secrets_client() -> SecretsManagerClient:
    """Return a client for secrets."""
    client: SecretsManagerClient = boto3.Session().client("secretsmanager", config=CONFIG)
    return client


def prompt_secrets_client() -> SecretsManagerClient:
    """Return a client whose calls are fast enough for a search: one try."""
    once = Config(
        connect_timeout=bounds.AWS_CONNECT_SECONDS / 2,
        read_timeout=bounds.AWS_READ_SECONDS / 2,
        retries={"total_max_attempts": 1},
    )
    client: SecretsManagerClient = boto3.Session().client(
        "secretsmanager", config=CONFIG.merge(once)
    )
    return client


class TextSecret:
    """A text secret, read once and cached until `forget`."""

    def __init__(self, make_client: Callable[[], SecretsManagerClient], name: str) -> None:
        """Set the secret's name or ARN; the client is created for the first read."""
        self._make_client = make_client
        self._name = name
        self._client: SecretsManagerClient | None = None
        self._value: str | None = None

    def value(self) -> str:
        """Return the text, stripped of surrounding blanks. Raises DependencyUnavailable."""
        if self._value is None:
            if self._client is None:
                self._client = self._make_client()
            with translate_aws_errors("secretsmanager"):
                answer = self._client.get_secret_value(SecretId=self._name)
            self._value = str(answer["SecretString"]).strip()
        return self._value

    def forget(self) -> None:
        """Drop the cached text, so that the next call reads the secret again."""
        self._value = None


def credentials_of(name: str) -> TextSecret | None:
    """Return the secret of a server's credentials; None if it needs none."""
    return TextSecret(prompt_secrets_client, name) if name else None


class JsonSecret:
    """A secret that holds a JSON object, read again after FRESH_SECONDS."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._arn = arn
        self._monotonic = monotonic
        self._read_at: float | None = None
        self._value: dict[str, Any] = {}

    def value(self) -> dict[str, Any]:
        """Return the object. Raises DependencyUnavailable, and ValueError for invalid JSON."""
        now = self._monotonic()
        if self._read_at is None or now - self._read_at > FRESH_SECONDS:
            with translate_aws_errors("secretsmanager"):
                answer = self._client.get_secret_value(SecretId=self._arn)
            self._value = json.loads(answer["SecretString"])
            self._read_at = now
        return self._value
