"""The stack's commands reach its LocalStack, whatever the caller's AWS settings are."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from stack import aws

GATEWAY = "http://127.0.0.1:20304"


@pytest.fixture(autouse=True)
def _callers_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    (tmp_path / "config").write_text("[default]\nregion = eu-west-1\nendpoint_url = http://other\n")
    for name, value in {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_PROFILE": "absent",
        "AWS_ENDPOINT_URL": "http://other:4566",
        "AWS_ENDPOINT_URL_S3": "http://other:4566",
        "AWS_ACCESS_KEY_ID": "theirs",
        "USE_SSL": "1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    aws.session.cache_clear()
    yield
    aws.session.cache_clear()


@pytest.mark.parametrize("service", ["s3", "lambda", "cloudformation", "secretsmanager", "logs"])
def test_a_client_ignores_the_caller_s_profile_credentials_and_endpoints(service: str) -> None:
    client = aws.client(service, GATEWAY)
    assert client.meta.endpoint_url == GATEWAY
    assert client.meta.region_name == "us-east-1"
    assert client._request_signer._credentials.access_key == "000000000000"


def test_each_instance_has_a_session_of_its_own() -> None:
    other = "http://127.0.0.1:20404"
    clients = [aws.client("sqs", gateway) for gateway in (GATEWAY, other, GATEWAY)]
    assert [client.meta.endpoint_url for client in clients] == [GATEWAY, other, GATEWAY]
    assert aws.session(GATEWAY) is aws.session(GATEWAY)
