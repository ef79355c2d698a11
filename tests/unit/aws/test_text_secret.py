"""A secret text is read once, and read again after `forget`."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from spinneret.aws.secrets_manager import TextSecret, credentials_of
from spinneret.kernel.errors import DependencyUnavailable


class Manager:
    """A Secrets Manager with one secret."""

    def __init__(self) -> None:
        self.text = "Bearer silk"
        self.asked: list[str] = []
        self.clients = 0
        self.down = False

    def client(self) -> Manager:
        self.clients += 1
        return self

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:  # noqa: N803 - AWS's name
        self.asked.append(SecretId)
        if self.down:
            raise ReadTimeoutError(endpoint_url="https://secretsmanager")
        return {"SecretString": self.text}


def test_it_is_read_once_and_again_when_it_was_forgotten() -> None:
    manager = Manager()
    secret = TextSecret(manager.client, "arn:of:it")
    assert (manager.clients, manager.asked) == (0, [])
    assert [secret.value(), secret.value()] == ["Bearer silk"] * 2
    manager.text = "Bearer new\n"  # editors add a line end
    assert secret.value() == "Bearer silk"
    secret.forget()
    assert secret.value() == "Bearer new"
    assert (manager.clients, manager.asked) == (1, ["arn:of:it"] * 2)


def test_an_outage_is_ours_and_is_not_kept() -> None:
    manager = Manager()
    manager.down = True
    secret = TextSecret(manager.client, "arn:of:it")
    with pytest.raises(DependencyUnavailable):
        secret.value()
    manager.down = False
    assert secret.value() == "Bearer silk"


def test_without_a_name_there_is_none() -> None:
    assert credentials_of("") is None
    assert credentials_of("arn:of:it") is not None
