"""Conversion of people to and from DynamoDB items; the keys of their rows."""

from typing import Final

from spinneret.access.users.models import User
from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item


def partition(tenant: str) -> str:
    """Partition of a tenant's people by id."""
    return f"T#{tenant}#USERS"


def user_key(tenant: str, user_id: str) -> Item:
    """Primary key of a user."""
    return {"pk": partition(tenant), "sk": user_id}


def email_key(tenant: str, email: str) -> Item:
    """Primary key of the row that reserves an address and names its user."""
    return {"pk": f"T#{tenant}#EMAIL#{email}", "sk": "EMAIL"}


def people_key(tenant: str) -> Item:
    """Primary key of the list of all people, which every change of people checks."""
    return {"pk": f"T#{tenant}#PEOPLE", "sk": "PEOPLE"}


USERS: Final = Codec(User, key=lambda user: user_key(user.tenant, user.id))
