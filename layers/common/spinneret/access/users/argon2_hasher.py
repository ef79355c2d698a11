"""Passwords hashed by argon2id."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from spinneret.access.users.models import Verified

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, two passes, one lane.
_MEMORY_KIB: Final = 19 * 1024
_PASSES: Final = 2
_LANES: Final = 1


class Argon2Hasher:
    """Implements PasswordHasher. Imports the library at the first use: few functions have it."""

    def hash(self, password: str) -> str:
        return self._argon2.hash(password)

    def verify(self, stored: str | None, password: str) -> Verified:
        from argon2.exceptions import VerifyMismatchError  # noqa: PLC0415 - see the class

        try:
            self._argon2.verify(stored or self._dummy, password)
        except VerifyMismatchError:
            return Verified(matches=False)
        if stored is None:
            return Verified(matches=False)
        renew = self._argon2.check_needs_rehash(stored)
        return Verified(matches=True, new_hash=self.hash(password) if renew else None)

    @cached_property
    def _dummy(self) -> str:
        """Hash that an unknown person's password is compared with, for the time that it takes."""
        return self.hash("nobody has this password")

    @cached_property
    def _argon2(self) -> PasswordHasher:
        from argon2 import PasswordHasher  # noqa: PLC0415 - see the class

        return PasswordHasher(time_cost=_PASSES, memory_cost=_MEMORY_KIB, parallelism=_LANES)
