"""Contract tests of sealers: the fake, and KMS on the local stack."""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.aws.kms import KmsSealer
from spinneret.kernel import bounds
from spinneret.kernel.errors import SecretUnreadable
from spinneret.kernel.sealing import Sealer
from tests.contract.backends import OF_OTHERS
from tests.fakes.sealing import FakeSealer

pytestmark = OF_OTHERS


@pytest.fixture
def sealer(client_of: Callable[[str], Any] | None) -> Sealer:
    if client_of is None:
        return FakeSealer()
    kms = client_of("kms")
    return KmsSealer(kms, kms.create_key()["KeyMetadata"]["KeyId"])


@pytest.mark.parametrize(
    "secret", [b"spider:silk", b"x", bytes(range(256)), b"x" * bounds.SEALED_MAX_BYTES]
)
def test_a_sealed_secret_is_opened_again(sealer: Sealer, secret: bytes) -> None:
    sealed = sealer.seal(secret, tenant="acme", purpose="proxy")
    assert sealed != secret
    assert sealer.unseal(sealed, tenant="acme", purpose="proxy") == secret


def test_the_same_secret_is_never_sealed_to_the_same_bytes(sealer: Sealer) -> None:
    one, other = (sealer.seal(b"silk", tenant="acme", purpose="proxy") for _ in range(2))
    assert one != other
    assert sealer.unseal(other, tenant="acme", purpose="proxy") == b"silk"


# covers T-05
@pytest.mark.parametrize(
    ("tenant", "purpose"), [("other", "proxy"), ("acme", "webhook"), ("proxy", "acme"), ("", "")]
)
def test_a_secret_opens_for_its_tenant_and_purpose_only(
    sealer: Sealer, tenant: str, purpose: str
) -> None:
    sealed = sealer.seal(b"silk", tenant="acme", purpose="proxy")
    with pytest.raises(SecretUnreadable):
        sealer.unseal(sealed, tenant=tenant, purpose=purpose)


@pytest.mark.parametrize("sealed", [b"nonsense", b"\x00" * 200])
def test_what_was_never_sealed_can_not_be_opened(sealer: Sealer, sealed: bytes) -> None:
    with pytest.raises(SecretUnreadable):
        sealer.unseal(sealed, tenant="acme", purpose="proxy")
