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
    """A session for LocalStack, whatever the caller's AWS profile and credentials are."""
    # A profile named in the environment must not even be looked up: it may not exist here.
    core = botocore.session.Session(session_vars={"profile": (None, None, None, None)})
    core.set_config_variable("config_file", "/dev/null")
    core.set_config_variable("credentials_file", "/dev/null")
    core.set_credentials(ACCOUNT, "local")
    return boto3.Session(botocore_session=core, region_name=REGION)


def client(session: boto3.Session, service: str, gateway: str) -> Any:
    """A client that has deadlines, does not try again, and needs no names to be resolved."""
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1},
        inject_host_prefix=False,
        s3={"addressing_style": "path"},
    )
    make: Any = session.client  # typed for literal names of services only
    return make(service, endpoint_url=gateway, config=config)
