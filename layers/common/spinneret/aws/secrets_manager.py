"""Secrets of this application, kept by AWS Secrets Manager."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

import boto3
from botocore.config import Config

from spinneret.aws.clients import CONFIG, translate_aws_errors
from spinneret.kernel import bounds

FRESH_SECONDS: Final = 300.0  # a rotated secret is read again within this


class SecretsManagerClient(Protocol):
    """The part of boto3's client that is used; no package of its types is installed."""

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        """The current version of a secret."""
        ...


def secrets_client() -> SecretsManagerClient:
    """A client for secrets."""
    client: SecretsManagerClient = boto3.Session().client("secretsmanager", config=CONFIG)
    return client


def prompt_secrets_client() -> SecretsManagerClient:
    """A client whose calls fit into a search: one try."""
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
    """One secret that is a text, read once and kept until `forget`."""

    def __init__(self, make_client: Callable[[], SecretsManagerClient], name: str) -> None:
        """`name` may be an ARN; the client is made for the first reading."""
        self._make_client = make_client
        self._name = name
        self._client: SecretsManagerClient | None = None
        self._value: str | None = None

    def value(self) -> str:
        """The text, without blanks around it; raises DependencyUnavailable."""
        if self._value is None:
            if self._client is None:
                self._client = self._make_client()
            with translate_aws_errors("secretsmanager"):
                answer = self._client.get_secret_value(SecretId=self._name)
            self._value = str(answer["SecretString"]).strip()
        return self._value

    def forget(self) -> None:
        """Read it again for the next call."""
        self._value = None


def credentials_of(name: str) -> TextSecret | None:
    """What a server is shown; None where it asks for nothing."""
    return TextSecret(prompt_secrets_client, name) if name else None


class JsonSecret:
    """One secret that holds a JSON object, read again after FRESH_SECONDS."""

    def __init__(
        self, client: SecretsManagerClient, arn: str, monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._arn = arn
        self._monotonic = monotonic
        self._read_at: float | None = None
        self._value: dict[str, Any] = {}

    def value(self) -> dict[str, Any]:
        """The object. Raises DependencyUnavailable, and ValueError for what isn't JSON."""
        now = self._monotonic()
        if self._read_at is None or now - self._read_at > FRESH_SECONDS:
            with translate_aws_errors("secretsmanager"):
                answer = self._client.get_secret_value(SecretId=self._arn)
            self._value = json.loads(answer["SecretString"])
            self._read_at = now
        return self._value
