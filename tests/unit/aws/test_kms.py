"""Refusals by KMS are counted for the operator; the caller gets SecretUnreadable or ClientError."""

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from spinneret.aws.kms import KmsSealer
from spinneret.kernel.errors import SecretUnreadable
from tests.metrics import recorded


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("AccessDeniedException", ClientError),
        ("DisabledException", SecretUnreadable),
        ("KMSInvalidStateException", SecretUnreadable),
    ],
)
def test_a_key_that_may_not_or_can_not_be_used_is_counted(
    code: str, error: type[Exception]
) -> None:
    kms = boto3.client(
        "kms", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    recorded()
    with Stubber(kms) as answers:
        answers.add_client_error("decrypt", code)
        with pytest.raises(error):
            KmsSealer(kms, "key").unseal(b"sealed", tenant="acme", purpose="proxy")
    assert recorded() == {"access_denied": [1]}
