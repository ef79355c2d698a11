"""Rotation of signing keys, by schedule and by command."""

from dataclasses import dataclass

from spinneret.access.tokens import rules
from spinneret.access.tokens.models import KeySet, SigningKey
from spinneret.access.tokens.ports import KeySetStore, Signer
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service


@dataclass(frozen=True)
class RotationResult:
    """Number of keys that one pass created and deleted."""

    created: int
    deleted: int


@service
class KeyRotation:
    """Creates a signing key before the youngest one is old, and deletes those without tokens."""

    keys: KeySetStore
    signer: Signer
    clock: Clock
    new_id: NewId

    def run(self, *, at_once: bool = False) -> RotationResult:
        """Do what is due; `at_once` adds a key in any case. Raises DependencyUnavailable.

        A pass that another one overtakes deletes the key that it created. An ended key leaves the
        set before its deletion; a pass that stops between the two leaves it in KMS, unused.
        """
        former, now = self.keys.read(), self.clock()
        due = rules.rotation(former, now, at_once=at_once)
        if not due.needs_key and not due.ended:
            return RotationResult(0, 0)
        created: tuple[SigningKey, ...] = ()
        if due.needs_key:
            key_id, public_key = self.signer.create()
            key = SigningKey(
                kid=self.new_id("kid"),
                key_id=key_id,
                public_key=public_key,
                active_from=rules.active_from(due.kept, now),
            )
            created = (key,)
        wanted = KeySet(version=former.version + 1, keys=(*due.kept, *created))
        if not self.keys.replace(former, wanted):
            for key in created:
                self.signer.delete(key.key_id)
            raise DependencyUnavailable("dynamodb", "another pass changed the signing keys")
        for key in due.ended:
            self.signer.delete(key.key_id)
        return RotationResult(len(created), len(due.ended))
