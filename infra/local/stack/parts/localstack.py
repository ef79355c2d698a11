"""The LocalStack part, in host mode; it starts DynamoDB Local and the functions' processes."""

import shutil
from pathlib import Path
from typing import Final

from stack.parts.part import Part, Site, minimal_environment, require_listener
from stack.ports import HOST
from stack.process import Spawn
from stack.tools import java
from stack.tools.jars import dynamodb_tool
from stack.tools.python_tools import (
    STATIC_FOLDER,
    catalog,
    localstack_tool,
    runtime_tool,
    sam_tool,
)
from stack.tools.store import link
from stack.tools.venv import python
from stack.workspace import Workspace

NAME: Final = "localstack"
HUNG: Final = "hung"
"""Folder in its data for the names of services that hang."""
BOOT_SECONDS: Final = 600.0
DYNAMODB_HEAP: Final = "256m"
EXECUTOR_VARIABLES: Final = (
    *("SPINNERET_LAMBDA_IDLE_SECONDS", "SPINNERET_LAMBDA_MAX_IDLE"),
    "SPINNERET_LAMBDA_CALLS",
)
"""Variables of `up` that bound the idle environments of functions, and record their calls."""


def localstack(workspace: Workspace) -> Part:
    server, dynamodb = localstack_tool(workspace), dynamodb_tool(workspace)
    runtime = runtime_tool(workspace)

    def spawn(site: Site) -> Spawn:
        data = site.data(NAME)
        kept = site.instance.kept(NAME)
        if not site.instance.is_durable:
            shutil.rmtree(kept, ignore_errors=True)
        # Only that folder's contents outlive its process, so nothing half-written may remain here.
        shutil.rmtree(data, ignore_errors=True)
        installed = site.store.path(server)
        root, temporary = data / "root", data / "tmp"
        for folder in (temporary, data / HUNG, kept):
            folder.mkdir(parents=True, exist_ok=True)
        _lay_out(
            root / STATIC_FOLDER,
            catalog_file=catalog(installed),
            dynamodb=site.store.path(dynamodb),
            java_home=java.provide(site.store).home,
        )
        functions_python = python(site.store.path(runtime))
        environment = minimal_environment(data, _settings(site, data, functions_python))
        words = (str(python(installed)), "-m", "localstack.runtime.main")
        return Spawn(words, environment, data)

    return Part(
        name=NAME,
        title="LocalStack",
        port="gateway",
        tools=(dynamodb, server, runtime, sam_tool(workspace)),
        spawn=spawn,
        probe=_probe,
        boot_seconds=BOOT_SECONDS,
        needs_java=True,
        inner_ports=("dynamodb",),
    )


def _lay_out(static: Path, *, catalog_file: Path, dynamodb: Path, java_home: Path) -> None:
    """Link files that LocalStack would download into the folder that it searches first."""
    link(static / catalog_file.name, catalog_file)
    link(static / "dynamodb-local" / "2", dynamodb)
    link(static / "java" / "21", java_home)


def _settings(site: Site, data: Path, functions_python: Path) -> dict[str, str]:
    environ = site.store.workspace.environ
    gateway = f"{HOST}:{site.ports.gateway}"
    return {
        "DEBUG": "0",
        # Its threads would each keep freed memory of their own.
        "MALLOC_ARENA_MAX": "2",
        # LocalStack would use system folders in a container instead of the root named here.
        "OVERRIDE_IN_DOCKER": "0",
        "FILESYSTEM_ROOT": str(data / "root"),
        "TMPDIR": str(data / "tmp"),
        "GATEWAY_LISTEN": gateway,
        "LOCALSTACK_HOST": gateway,
        # LocalStack would serve DNS on all interfaces if run as root.
        "DNS_ADDRESS": "0",
        # No downloads and no telemetry at start.
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "DISABLE_EVENTS": "1",
        # An unsupported resource must fail, as it would be missing afterwards.
        "CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES": "0",
        # Executor of our plug-in: each execution environment is a local process.
        "LAMBDA_RUNTIME_EXECUTOR": "process",
        "SPINNERET_LAMBDA_PYTHON": str(functions_python),
        # Compiled files are of one interpreter.
        "SPINNERET_LAMBDA_ARCHIVES": str(
            site.instance.kept(NAME) / "archives" / functions_python.parents[1].name
        ),
        **{name: environ[name] for name in EXECUTOR_VARIABLES if name in environ},
        # Our plug-in keeps data in it, for a new stack and for the next start.
        "SPINNERET_KEPT_FOLDER": str(site.instance.kept(NAME)),
        "SPINNERET_DURABLE": "1" if site.instance.is_durable else "0",
        # Tests name services in it that shall hang.
        "SPINNERET_HUNG_SERVICES": str(data / HUNG),
        # Includes the wait for a turn when many environments start at once.
        "LAMBDA_RUNTIME_ENVIRONMENT_TIMEOUT": "120",
        "LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC": "1",
        # The default addresses have host names that need LocalStack's DNS.
        "SQS_ENDPOINT_STRATEGY": "path",
        "OPENSEARCH_ENDPOINT_STRATEGY": "path",
        "OPENSEARCH_CUSTOM_BACKEND": f"http://{HOST}:{site.ports.opensearch}",
        # Expired or altered presigned URLs are rejected, as on AWS.
        "S3_SKIP_SIGNATURE_VALIDATION": "0",
        # Otherwise LocalStack picks an ephemeral port, which a connection may take before it is
        # bound.
        "DYNAMODB_LOCAL_PORT": str(site.ports.dynamodb),
        "DYNAMODB_IN_MEMORY": "0" if site.instance.is_durable else "1",
        # Functions use it without LocalStack, which would separate tables by account and region.
        "DYNAMODB_SHARE_DB": "1",
        "DYNAMODB_HEAP_SIZE": DYNAMODB_HEAP,
        "DYNAMODB_REMOVE_EXPIRED_ITEMS": "1",
    }


def _probe(url: str) -> None:
    require_listener(url)
    # boto3 is slow to import, and most commands do not probe.
    from stack.parts.aws_probe import probe  # noqa: PLC0415  (see above)

    probe(url)
