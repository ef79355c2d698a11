"""Clients of the emulated AWS services."""

from __future__ import annotations

from typing import Any, Final

import boto3
import botocore.session
from botocore.config import Config

from stack.workspace import ACCOUNT, REGION

CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 60


def session() -> boto3.Session:
    """Return a session for LocalStack, independent of the caller's AWS profile and credentials."""
    # A profile named in the environment must not be looked up: it may not exist here.
    core = botocore.session.Session(session_vars={"profile": (None, None, None, None)})
    core.set_config_variable("config_file", "/dev/null")
    core.set_config_variable("credentials_file", "/dev/null")
    core.set_credentials(ACCOUNT, "local")
    return boto3.Session(botocore_session=core, region_name=REGION)


def client(session: boto3.Session, service: str, gateway: str) -> Any:
    """Return a client with deadlines, without retries and without host prefixes to resolve."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1},
        inject_host_prefix=False,
        s3={"addressing_style": "path"},
    )
    make: Any = session.client  # typed only for literal service names
    return make(service, endpoint_url=gateway, config=config)
