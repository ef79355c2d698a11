"""Permissions that collections add to their function."""

from tests.architecture.permissions.parts import on

NEEDED = {"SearchApi": on("TagsAndCollections", "BatchGetItem DeleteItem GetItem PutItem Query")}
