"""The OpenSearch client, unsigned on a local machine and signed on AWS."""

from __future__ import annotations

import boto3
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection

from spinneret.aws.http import INDEX_SERVICE, SIGNED
from spinneret.kernel import bounds


def opensearch_client(url: str, auth: str, seconds: float = bounds.SEARCH_SECONDS) -> OpenSearch:
    """`auth` is `sigv4` or `none`; one try, as waiting is the job kernel's business."""
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
