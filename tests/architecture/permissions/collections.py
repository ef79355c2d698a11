"""What collections add to their function."""

from __future__ import annotations

from tests.architecture.permissions.parts import on

NEEDED = {"SearchApi": on("TagsAndCollections", "BatchGetItem DeleteItem GetItem PutItem Query")}
