"""Clients of the emulated AWS services."""

import functools
import os
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore.config import Config
from localstack_client.session import Session

from stack.workspace import ACCOUNT, REGION

CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 60
# localstack-client prefers these variables of the caller to the address that it is given.
_PREFERRED: Final = ("AWS_ENDPOINT_URL", "USE_SSL")


@functools.cache  # it keeps the services' descriptions, which take long to read
def session(gateway: str) -> Session:
    """Return a session for LocalStack, independent of the caller's AWS settings.

    It makes its clients from boto3's default session, which becomes one without the caller's
    profile, files and credentials.
    """
    for name in _PREFERRED:
        os.environ.pop(name, None)
    # A profile named in the environment must not be looked up: it may not exist here.
    core = botocore.session.Session(session_vars={"profile": (None, None, None, None)})
    core.set_config_variable("config_file", "/dev/null")
    core.set_config_variable("credentials_file", "/dev/null")
    boto3.setup_default_session(botocore_session=core)
    return Session(ACCOUNT, "local", region_name=REGION, localstack_host=urlsplit(gateway).netloc)


def client(service: str, gateway: str) -> Any:
    """Return a client with deadlines, without retries and without host prefixes to resolve."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1},
        inject_host_prefix=False,
        s3={"addressing_style": "path"},
    )
    return session(gateway).client(service, config=config)
