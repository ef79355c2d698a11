"""Functions of the marketplace area, and what it adds to functions of others."""

from __future__ import annotations

from tests.architecture.permissions.parts import ADMISSION, JOB_WORK, UPLOADED, on, together

_MARKETPLACES = together(
    on("Marketplace", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
    on("ClientSecrets", "secretsmanager:GetSecretValue"),
    on("SecretsKey", "kms:Decrypt kms:Encrypt"),
)
_WORKER = together(JOB_WORK, _MARKETPLACES, on("Idempotency", "UpdateItem"))

CALLS = {"get_secret_value": "secretsmanager:GetSecretValue"}

NEEDED = {
    "MarketplaceApi": together(ADMISSION, UPLOADED, JOB_WORK, _MARKETPLACES),
    "MarketplaceHighWorker": _WORKER,
    "MarketplaceWorker": _WORKER,
    # A plug-in says that it is there, and what a marketplace answered it.
    "LiveApi": on("Marketplace", "PutItem UpdateItem"),
    # They may end marketplace jobs, whose ends are counted.
    "CoreApi": on("Marketplace", "PutItem UpdateItem"),
    "Sweeper": on("Marketplace", "PutItem UpdateItem"),
}
