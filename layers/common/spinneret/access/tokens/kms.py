"""Signatures and message authentication codes by AWS KMS."""

import base64
import textwrap
from typing import Final

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.types import KMSClient

_GONE: Final = frozenset({"KMSInvalidStateException", "NotFoundException"})
_WAITING_DAYS: Final = 7  # the least that KMS takes


class KmsSigner:
    """Implements Signer. Its keys have the tag `spinneret-signing` with the stage's name."""

    def __init__(self, client: KMSClient, stage: str) -> None:
        self._client = client
        self._stage = stage

    def create(self) -> tuple[str, str]:
        with translate_aws_errors("kms"):
            made = self._client.create_key(
                Description=f"Access tokens of spinneret-{self._stage}",
                KeySpec="RSA_2048",
                KeyUsage="SIGN_VERIFY",
                Tags=[{"TagKey": "spinneret-signing", "TagValue": self._stage}],
            )
            key_id = made["KeyMetadata"]["KeyId"]
            found = self._client.get_public_key(KeyId=key_id)
        encoded = base64.b64encode(found["PublicKey"]).decode()
        lines = "\n".join(textwrap.wrap(encoded, 64))
        return key_id, f"-----BEGIN PUBLIC KEY-----\n{lines}\n-----END PUBLIC KEY-----\n"

    def sign(self, key_id: str, message: bytes) -> bytes:
        with translate_aws_errors("kms"):
            answer = self._client.sign(
                KeyId=key_id,
                Message=message,
                MessageType="RAW",
                SigningAlgorithm="RSASSA_PKCS1_V1_5_SHA_256",
            )
        return answer["Signature"]

    def delete(self, key_id: str) -> None:
        try:
            with translate_aws_errors("kms"):
                self._client.schedule_key_deletion(KeyId=key_id, PendingWindowInDays=_WAITING_DAYS)
        except ClientError as error:
            if error_code(error) not in _GONE:
                raise


class KmsMac:
    """Implements SuccessorSecret by an HMAC key that never leaves KMS."""

    def __init__(self, client: KMSClient, key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def of(self, text: str) -> bytes:
        with translate_aws_errors("kms"):
            answer = self._client.generate_mac(
                KeyId=self._key_id, Message=text.encode(), MacAlgorithm="HMAC_SHA_256"
            )
        return answer["Mac"]
