"""A GET by the AWS SDK's own HTTP client: for functions that carry no other."""

from __future__ import annotations

from typing import Final

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session

from spinneret.kernel.errors import DependencyUnavailable

SIGNED: Final = "sigv4"
"""How a setting says that requests are to be signed."""
INDEX_SERVICE: Final = "es"  # the signing name of OpenSearch Service domains


def get(
    url: str,
    seconds: int,
    dependency: str,
    *,
    signed_for: str | None = None,
    authorization: str | None = None,
) -> bytes:
    """The body of the answer, signed by Signature Version 4 for the service `signed_for`, or with
    this value of the Authorization header.

    Raises DependencyUnavailable for any answer but 200, and for none within `seconds`.
    """
    headers = {} if authorization is None else {"Authorization": authorization}
    request = AWSRequest(method="GET", url=url, headers=headers)
    if signed_for is not None:
        session = boto3.Session()
        credentials = session.get_credentials()
        if credentials is None:
            raise DependencyUnavailable(dependency, "no credentials")
        SigV4Auth(credentials, signed_for, session.region_name).add_auth(request)
    try:
        answer = URLLib3Session(timeout=seconds).send(request.prepare())
    except BotoCoreError as error:
        raise DependencyUnavailable(dependency) from error
    if answer.status_code != 200:
        raise DependencyUnavailable(dependency, f"answers {answer.status_code}")
    content: bytes = answer.content
    return content
