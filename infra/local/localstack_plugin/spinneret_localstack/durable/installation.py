"""Installation of all that keeps data."""

from pathlib import Path
from typing import Any

from localstack.services.dynamodb.models import dynamodb_stores
from localstack.services.dynamodb.server import DynamodbServer
from localstack.services.kms.models import kms_stores
from localstack.utils.patch import patch

from spinneret_localstack.durable import adoption, bodies
from spinneret_localstack.durable.snapshots import (
    Snapshots,
    bundle_store,
    objects_store,
    secrets_store,
)


def install(folder: Path, *, durable: bool) -> Snapshots | None:
    """Restore the folder's data and keep them from now on.

    Otherwise data outlive stacks, but not this process; returns None then.
    """
    adoption.apply(adoption.Resources(folder / "resources.json"))
    if not durable:
        return None
    bodies.install(folder / "objects")
    _keep_rows(folder / "dynamodb")
    snapshots = Snapshots(
        folder,
        {
            "dynamodb": bundle_store(dynamodb_stores),
            "kms": bundle_store(kms_stores),
            "s3": objects_store(),
            "secretsmanager": secrets_store(),
        },
    )
    snapshots.restore()
    snapshots.watch()
    return snapshots


def _keep_rows(folder: Path) -> None:
    """Let DynamoDB Local store its tables in the folder; LocalStack would use a temporary one."""

    @patch(DynamodbServer.__init__)
    def __init__(original: Any, server: DynamodbServer, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(server, *args, **kwargs)
        server.db_path = str(folder)
