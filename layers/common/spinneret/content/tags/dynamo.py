"""Tags on DynamoDB: items of the kind `tag` in the table TagsAndCollections (aws.named_rows)."""

from typing import Final

from spinneret.aws.codec import Codec
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.aws.types import DynamoDBClient
from spinneret.content.tags.models import Tag


class DynamoTagStore(NamedRows[Tag]):
    """Implements TagStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, "tag", TAGS)


TAGS: Final = Codec(Tag, keyed=KEYED, from_key=from_key)
