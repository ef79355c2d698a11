"""Secrets of this application, kept by AWS Secrets Manager."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

import boto3

from spinneret.aws.clients import CONFIG, translated

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
            with translated("secretsmanager"):
                answer = self._client.get_secret_value(SecretId=self._arn)
            self._value = json.loads(answer["SecretString"])
            self._read_at = now
        return self._value
