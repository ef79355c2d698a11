"""Sealed secrets in memory."""

import base64
import itertools
import json

from spinneret.kernel.errors import SecretUnreadable
from tests.fakes.dependency import FakeDependency


class FakeSealer(FakeDependency):
    """Implements Sealer without a key: tests can decode the result, which hides the text."""

    dependency = "kms"

    def __init__(self) -> None:
        self.unsealed = 0
        """Number of unsealed secrets."""
        self._numbers = itertools.count()

    def seal(self, secret: bytes, *, tenant: str, purpose: str) -> bytes:
        self._require()
        bound = [next(self._numbers), tenant, purpose, base64.b64encode(secret).decode()]
        return base64.b85encode(json.dumps(bound).encode())

    def unseal(self, sealed: bytes, *, tenant: str, purpose: str) -> bytes:
        self._require()
        try:
            _, for_tenant, for_purpose, secret = json.loads(base64.b85decode(sealed))
        except ValueError as error:
            raise SecretUnreadable("can't be decrypted") from error
        if (for_tenant, for_purpose) != (tenant, purpose):
            raise SecretUnreadable("can't be decrypted")
        self.unsealed += 1
        return base64.b64decode(secret)
