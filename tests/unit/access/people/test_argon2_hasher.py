"""Password hashes by argon2id."""

from argon2 import PasswordHasher

from spinneret.access.users.argon2_hasher import Argon2Hasher
from spinneret.access.users.models import Verified

PASSWORD = "a password of some length"


# covers T-02
def test_a_password_matches_its_hash_only() -> None:
    hasher = Argon2Hasher()
    stored = hasher.hash(PASSWORD)
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert hasher.hash(PASSWORD) != stored
    assert hasher.verify(stored, PASSWORD) == Verified(matches=True)
    assert hasher.verify(stored, f"{PASSWORD}!") == Verified(matches=False)
    assert hasher.verify(None, PASSWORD) == Verified(matches=False)


def test_a_hash_with_other_parameters_is_renewed() -> None:
    old = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    found = Argon2Hasher().verify(old, PASSWORD)
    assert found.matches
    assert found.new_hash is not None
    assert Argon2Hasher().verify(found.new_hash, PASSWORD) == Verified(matches=True)
