"""Conversion of the set of signing keys to and from its DynamoDB item."""

from typing import Final

from spinneret.access.tokens.models import KeySet
from spinneret.aws.codec import Codec
from spinneret.aws.dynamo import Item

KEY: Final[Item] = {"pk": "SIGNING", "sk": "KEYS"}
KEY_SETS: Final = Codec(KeySet, key=lambda _: KEY)
