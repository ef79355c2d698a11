"""Functions of people."""

from tests.architecture.permissions.parts import UPLOADED, on, together
from tests.architecture.permissions.reading import CONDITIONED

CALLS = {
    "create_key": "kms:CreateKey",
    "generate_mac": "kms:GenerateMac",
    "get_public_key": "kms:GetPublicKey",
    "schedule_key_deletion": "kms:ScheduleKeyDeletion",
    "sign": "kms:Sign",
}

NEEDED = {
    "SignInApi": together(
        on("Tenancy", "DeleteItem GetItem PutItem UpdateItem"),
        on("Events", "PutItem"),
        UPLOADED,
        on(f"key/*{CONDITIONED}", "kms:Sign"),  # only keys with this stage's tag
    ),
    "PeopleApi": together(
        on("Tenancy", "DeleteItem GetItem PutItem Query UpdateItem"),
        on("Events", "PutItem"),
        UPLOADED,
        on("RefreshKey", "kms:GenerateMac"),
        on(f"key/*{CONDITIONED}", "kms:Sign"),  # only keys with this stage's tag
    ),
    "SigningKeys": together(
        on(f"Tenancy{CONDITIONED}", "GetItem PutItem"),
        on(f"*{CONDITIONED}", "kms:CreateKey kms:TagResource"),
        on(f"key/*{CONDITIONED}", "kms:GetPublicKey kms:ScheduleKeyDeletion"),
    ),
}
