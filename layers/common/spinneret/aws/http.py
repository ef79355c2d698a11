"""GET requests with the AWS SDK's own HTTP client, for functions without another one."""

from typing import Final

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session

from spinneret.kernel.errors import DependencyUnavailable

SIGNED: Final = "sigv4"
"""Value of settings that require signed requests."""
INDEX_SERVICE: Final = "es"  # signing name of OpenSearch Service domains


def get(
    url: str,
    seconds: int,
    dependency: str,
    *,
    signed_for: str | None = None,
    authorization: str | None = None,
) -> bytes:
    """Return the body of the response.

    As `exchange`; raises DependencyUnavailable also for any status but 200.
    """
    status, content = exchange(
        url, seconds, dependency, signed_for=signed_for, authorization=authorization
    )
    if status != 200:
        raise DependencyUnavailable(dependency, f"answers {status}")
    return content


def exchange(
    url: str,
    seconds: int,
    dependency: str,
    *,
    signed_for: str | None = None,
    authorization: str | None = None,
) -> tuple[int, bytes]:
    """Return status and body of the response.

    The request is signed by Signature Version 4 for the service `signed_for`, or has the
    Authorization header `authorization`. Raises DependencyUnavailable for no response within
    `seconds`.
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
    content: bytes = answer.content
    return answer.status_code, content
