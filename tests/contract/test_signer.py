"""Contract tests of signers: the fake, and KMS on the local stack."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from spinneret.access.sessions.ports import SuccessorSecret
from spinneret.access.tokens.kms import KmsMac, KmsSigner
from spinneret.access.tokens.ports import Signer
from tests.contract.backends import OF_OTHERS
from tests.fakes.people import FakeMac, FakeSigner

pytestmark = OF_OTHERS


@pytest.fixture
def signer(client_of: Callable[[str], Any] | None) -> Signer:
    return FakeSigner() if client_of is None else KmsSigner(client_of("kms"), "local")


@pytest.fixture
def mac(client_of: Callable[[str], Any] | None) -> SuccessorSecret:
    if client_of is None:
        return FakeMac()
    kms = client_of("kms")
    made = kms.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
    return KmsMac(kms, made["KeyMetadata"]["KeyId"])


def test_the_public_key_verifies_what_its_key_signed(signer: Signer) -> None:
    (key_id, pem), (_, other) = signer.create(), signer.create()
    signature = signer.sign(key_id, b"a message")
    public, foreign = (load_pem_public_key(each.encode()) for each in (pem, other))
    assert isinstance(public, rsa.RSAPublicKey)
    assert isinstance(foreign, rsa.RSAPublicKey)
    public.verify(signature, b"a message", padding.PKCS1v15(), hashes.SHA256())
    for key, message in ((foreign, b"a message"), (public, b"another")):
        with pytest.raises(InvalidSignature):
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())


def test_a_key_is_deleted_once_or_twice(signer: Signer) -> None:
    key_id, _ = signer.create()
    signer.delete(key_id)
    signer.delete(key_id)


def test_a_mac_is_the_same_for_a_text_and_another_for_another(mac: SuccessorSecret) -> None:
    assert mac.of("one") == mac.of("one") != mac.of("two")
    assert len(mac.of("one")) == 32
