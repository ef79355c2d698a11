"""Secrets sealed by AWS KMS."""

from typing import Final

import boto3
from botocore.exceptions import ClientError

from spinneret.aws.clients import CONFIG, error_code, translate_aws_errors
from spinneret.aws.types import KMSClient
from spinneret.kernel.errors import SecretUnreadable

_UNREADABLE: Final = frozenset(
    {
        "DisabledException",
        "IncorrectKeyException",
        "InvalidCiphertextException",
        "KMSInvalidStateException",
        "NotFoundException",
    }
)


def kms_client() -> KMSClient:
    """Return a client for keys."""
    client: KMSClient = boto3.client("kms", config=CONFIG)
    return client


class KmsSealer:
    """Implements Sealer by direct encryption, which KMS offers for up to 4096 bytes.

    Tenant and purpose are the encryption context, which CloudTrail records and which a key policy
    may require. `key_id` is an id, ARN or alias of a symmetric key.
    """

    def __init__(self, client: KMSClient, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def seal(self, secret: bytes, *, tenant: str, purpose: str) -> bytes:
        with translate_aws_errors("kms"):
            answer = self._client.encrypt(
                KeyId=self._key_id,
                Plaintext=secret,
                EncryptionContext={"tenant": tenant, "purpose": purpose},
            )
        return answer["CiphertextBlob"]

    def unseal(self, sealed: bytes, *, tenant: str, purpose: str) -> bytes:
        """See Sealer. Uses this key only, although a ciphertext names its own."""
        try:
            with translate_aws_errors("kms"):
                answer = self._client.decrypt(
                    KeyId=self._key_id,
                    CiphertextBlob=sealed,
                    EncryptionContext={"tenant": tenant, "purpose": purpose},
                )
        except ClientError as error:
            if error_code(error) not in _UNREADABLE:
                raise
            raise SecretUnreadable(f"a secret ({purpose}) can't be decrypted") from error
        return answer["Plaintext"]
