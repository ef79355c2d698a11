"""Functions of the marketplace area, and the permissions that it adds to other functions."""

from tests.architecture.permissions.parts import ADMISSION, JOB_WORK, UPLOADED, on, together

_MARKETPLACES = together(
    on("Marketplace", "BatchGetItem DeleteItem GetItem PutItem Query UpdateItem"),
    on("ClientSecrets", "secretsmanager:GetSecretValue"),
    on("SecretsKey", "kms:Decrypt kms:Encrypt"),
)
_ENDING = on("Marketplace", "PutItem UpdateItem")  # statistics of ended jobs
_DRIVING = together(JOB_WORK, _ENDING)
_STARTING = on("PublishMachine", "states:StartExecution")
_ANY = "*"  # an action on a task token, which itself identifies the execution

CALLS = {
    "get_secret_value": "secretsmanager:GetSecretValue",
    "send_task_heartbeat": "states:SendTaskHeartbeat",
    "send_task_success": "states:SendTaskSuccess",
}

NEEDED = {
    "MarketplaceApi": together(ADMISSION, UPLOADED, JOB_WORK, _MARKETPLACES, _STARTING),
    "MarketplaceWorker": together(_DRIVING, _STARTING),
    "OrderPolling": together(
        JOB_WORK,
        on("Marketplace", "ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem"),
    ),
    "PublishTake": _DRIVING,
    "PublishStep": together(
        JOB_WORK,
        _MARKETPLACES,
        on("Idempotency", "UpdateItem"),
    ),
    "PublishCallback": together(
        on("Jobs", "ConditionCheckItem"),
        on("Marketplace", "DeleteItem GetItem PutItem"),
        on(_ANY, "states:SendTaskSuccess"),
    ),
    # A plug-in reports that it is connected, and a marketplace's response; then the waiting state
    # continues.
    "LiveApi": together(
        on("Marketplace", "DeleteItem GetItem PutItem Query UpdateItem"),
        on(_ANY, "states:SendTaskHeartbeat states:SendTaskSuccess"),
    ),
    # These functions may end marketplace jobs, whose ends are counted.
    "CoreApi": _ENDING,
    "Sweeper": _ENDING,
}
