"""The OpenSearch client: unsigned on a local machine, signed on AWS."""

import boto3
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection

from spinneret.aws.http import INDEX_SERVICE, SIGNED
from spinneret.kernel import bounds


def opensearch_client(url: str, auth: str, seconds: float = bounds.SEARCH_SECONDS) -> OpenSearch:
    """Return a client; `auth` is `sigv4` or `none`. It doesn't retry, since the job kernel does."""
    signer = None
    if auth == SIGNED:
        session = boto3.Session()
        signer = Urllib3AWSV4SignerAuth(
            session.get_credentials(), session.region_name, INDEX_SERVICE
        )
    return OpenSearch(
        url,
        http_auth=signer,
        connection_class=Urllib3HttpConnection,
        timeout=seconds,
        max_retries=0,
        pool_maxsize=4,
    )
