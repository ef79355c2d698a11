from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from spinneret.aws.codec import JSON, NULL, SPARSE, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.kernel.errors import ValidationFailed


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Leg:
    number: int
    length: float
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Egg:
    colour: Colour


@dataclass(frozen=True, kw_only=True)
class Nest:
    id: str
    egg: Egg


@dataclass(frozen=True, kw_only=True)
class Spider:
    tenant: str
    id: str
    colour: Colour
    born_at: datetime
    weight: float
    legs: tuple[Leg, ...] = ()
    names: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    venom: bytes | None = None
    prey: Mapping[str, Any] | None = None
    died_at: datetime | None
    tame: bool = False
    eyes: int = 8


SPIDERS = Codec(
    Spider,
    key=lambda spider: {"pk": f"T#{spider.tenant}#SPIDERS", "sk": spider.id},
    keyed=("tenant", "id"),
    from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
    columns={"prey": JSON, "tame": SPARSE, "names": SPARSE, "eyes": Column(attribute="eye_count")},
    derived=lambda spider: {"due_shard": "DUE#1" if spider.died_at is None else None},
)
BORN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SPIDER = Spider(tenant="acme", id="sp_1", colour=Colour.RED, born_at=BORN, weight=0.1, died_at=None)

moments = st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e30, max_value=1e30).filter(
    lambda number: number == 0 or abs(number) > 1e-30
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
spiders = st.builds(
    Spider,
    tenant=st.just("acme"),
    id=st.just("sp_1"),
    colour=st.sampled_from(Colour),
    born_at=moments,
    weight=numbers,
    legs=st.lists(st.builds(Leg, length=numbers, number=st.integers(-9, 9)), max_size=2).map(tuple),
    names=st.lists(st.text(), max_size=2).map(tuple),
    counts=st.dictionaries(st.text(max_size=3), st.integers(-(10**20), 10**20), max_size=2),
    venom=st.none() | st.binary(),
    prey=st.none() | st.dictionaries(st.text(max_size=3), json_values, max_size=2),
    died_at=st.none() | moments,
    tame=st.booleans(),
    eyes=st.integers(0, 8),
)


def through_dynamodb(item: Item) -> Item:
    """Return the item as boto3 writes and reads it."""
    return {
        name: TypeDeserializer().deserialize(TypeSerializer().serialize(value))
        for name, value in item.items()
    }


@given(spiders)
def test_a_value_is_read_as_it_was_written(spider: Spider) -> None:
    assert SPIDERS.decode(through_dynamodb(SPIDERS.encode(spider))) == spider


def test_an_item_holds_keys_and_attributes_but_nothing_empty() -> None:
    assert SPIDERS.encode(SPIDER) == {
        "pk": "T#acme#SPIDERS",
        "sk": "sp_1",
        "colour": "red",
        "born_at": "2026-01-02T03:04:05.000000Z",
        "weight": Decimal("0.1"),
        "legs": [],
        "counts": {},
        "eye_count": 8,
        "due_shard": "DUE#1",
    }


def test_an_item_of_an_earlier_version_is_rewritten_before_it_is_read() -> None:
    item = SPIDERS.encode(SPIDER)
    del item["weight"]
    earlier = Codec(
        Spider,
        key=SPIDERS.key,
        keyed=("tenant", "id"),
        from_key=lambda item: {"tenant": tenant_of(item), "id": item["sk"]},
        upgrade=lambda item: {"weight": Decimal(1), **item},
    )
    assert earlier.decode(item).weight == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [({"colour": "green"}, "colour"), ({"colour": None}, "colour"), ({"weight": "x"}, "weight")],
)
def test_an_item_that_does_not_fit_its_dataclass_is_an_error(
    change: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError, match=field):
        SPIDERS.decode({**SPIDERS.encode(SPIDER), **change})


def test_a_value_without_a_stored_form_is_refused_before_anything_is_written() -> None:
    with pytest.raises(TypeError, match="give its field a Column"):
        SPIDERS.encode(Spider(**{**vars(SPIDER), "counts": {"a": {1, 2}}}))
    with pytest.raises(ValidationFailed):
        SPIDERS.encode(Spider(**{**vars(SPIDER), "prey": {"flies": float("nan")}}))


def test_binaries_are_read_as_bytes_in_lists_too() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sealed:
        parts: tuple[bytes, ...]

    codec = Codec(Sealed)
    assert codec.decode({"parts": [Binary(b"x"), Binary(b"y")]}) == Sealed(parts=(b"x", b"y"))


def test_none_is_stored_as_null_and_a_form_of_none_not_at_all_if_so_declared() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Web:
        note: str | None
        size: int = 3

    unusual = Column(encode=lambda size: None if size == 3 else size)
    codec = Codec(Web, columns={"note": NULL, "size": unusual})
    assert codec.encode(Web(note=None)) == {"note": None}
    assert codec.encode(Web(note="wet", size=4)) == {"note": "wet", "size": 4}
    for web in (Web(note=None), Web(note="wet", size=4)):
        assert codec.decode(codec.encode(web)) == web


def test_a_value_that_is_part_of_another_shares_its_item() -> None:
    eggs = Codec(Egg)
    nests = Codec(
        Nest,
        key=lambda nest: {"pk": nest.id},
        keyed=("id", "egg"),
        from_key=lambda item: {"id": item["pk"], "egg": eggs.decode(item)},
        derived=lambda nest: eggs.encode(nest.egg),
    )
    nest = Nest(id="nest_1", egg=Egg(colour=Colour.BLUE))
    assert nests.encode(nest) == {"pk": "nest_1", "colour": "blue"}
    assert nests.decode(nests.encode(nest)) == nest
