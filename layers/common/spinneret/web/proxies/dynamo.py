"""Proxy configs on DynamoDB.

Domains table
    pk `T#<tenant>#PROXIES`, sk `<config id>`           the config with its servers, whose
                                                        credentials are sealed; lists by partition,
                                                        ordered by id, that is by time
    pk `T#<tenant>#PROXYNAMES`, sk `<name>`             id of the config with the name
    pk `T#<tenant>#PROXY#<config id>`, sk `USAGE#<version>`   picks, uses and failures
                                                        (dynamo_usage.py); separate, as every fetch
                                                        writes there

Config and name are rows of aws.named_rows.
"""

from typing import Final

from spinneret.aws.codec import Codec, Column
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.aws.types import DynamoDBClient
from spinneret.web.proxies.models import ProxyConfig, ProxyServer


class DynamoProxyStore(NamedRows[ProxyConfig]):
    """Implements ProxyStore; see the module's docstring for the key design."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, "proxy config", CONFIGS, word="PROXY", words="PROXIES")


SERVERS: Final = Codec(ProxyServer, columns={"sealed_credentials": Column(attribute="credentials")})

CONFIGS: Final = Codec(
    ProxyConfig,
    keyed=KEYED,
    from_key=from_key,
    columns={
        "servers": Column(
            encode=lambda servers: [SERVERS.encode(each) for each in servers],
            decode=lambda stored: [SERVERS.decode(each) for each in stored],
        )
    },
)
