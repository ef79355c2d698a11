"""Compare the persistence kit with a mapping written by hand, on 10,000 listing rows.

python benchmarks/codec.py
"""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "layers/common")]

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from spinneret.kernel.clock import optional_stamp, parse_optional_stamp
from spinneret.marketplace.listings.dynamo import LISTINGS
from spinneret.marketplace.listings.models import Drift, Listing, ListingState

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LISTING = Listing(
    tenant="acme",
    product_id="prd_0192f0c1d2e3f4a5b6c7d8e9f0a1b2c3",
    marketplace="ebay",
    sku="SPIDER-1",
    state=ListingState.ACTIVE,
    external_id="110123456789",
    images={f"https://shop.example/{n}.jpg": f"https://i.example/{n}" for n in range(6)},
    url="https://market.example/110123456789",
    digest="d" * 64,
    drift=(Drift(field="price", ours="10.00", theirs="12.00"),),
    last_sync_at=NOW,
    updated_at=NOW,
    version=7,
)
TIMES = ("intent_at", "attempted_at", "last_sync_at", "updated_at")


def encode_by_hand(listing: Listing) -> dict[str, Any]:
    """Return the row, written by a mapping that names every field."""
    item = {
        "pk": f"T#{listing.tenant}#LISTINGS",
        "sk": f"{listing.product_id}#{listing.marketplace}",
        **{name: getattr(listing, name) for name in ("product_id", "marketplace", "sku")},
        **{name: getattr(listing, name) for name in ("external_id", "reference", "url", "digest")},
        **{name: getattr(listing, name) for name in ("generation", "intent_job", "revised_on")},
        "state": listing.state.value,
        "images": dict(listing.images),
        "attempted_titles": list(listing.attempted_titles) or None,
        "drift": [[each.field, each.ours, each.theirs] for each in listing.drift],
        "revisions": listing.revisions,
        "version": listing.version,
        **{name: optional_stamp(getattr(listing, name)) for name in TIMES},
    }
    return {name: value for name, value in item.items() if value is not None}


def decode_by_hand(item: dict[str, Any]) -> Listing:
    """Return the listing of a row; the inverse of `encode_by_hand`."""
    return Listing(
        tenant=item["pk"].split("#")[1],
        product_id=item["product_id"],
        marketplace=item["marketplace"],
        sku=item["sku"],
        state=ListingState(item["state"]),
        external_id=item.get("external_id"),
        reference=item.get("reference"),
        images=item["images"],
        url=item.get("url"),
        digest=item.get("digest"),
        generation=int(item["generation"]),
        intent_job=item.get("intent_job"),
        attempted_titles=tuple(item.get("attempted_titles", ())),
        drift=tuple(Drift(field=a, ours=b, theirs=c) for a, b, c in item["drift"]),
        revised_on=item.get("revised_on"),
        revisions=int(item["revisions"]),
        version=int(item["version"]),
        intent_at=parse_optional_stamp(item.get("intent_at")),
        attempted_at=parse_optional_stamp(item.get("attempted_at")),
        last_sync_at=parse_optional_stamp(item.get("last_sync_at")),
        updated_at=parse_optional_stamp(item.get("updated_at")),
    )


def microseconds(work: Callable[[], object], rows: int) -> float:
    """Return the microseconds per row in the fastest of three runs."""
    return min(_timed(work, rows) for _ in range(3)) / rows * 1e6


def _timed(work: Callable[[], object], rows: int) -> float:
    begin = time.perf_counter()
    for _ in range(rows):
        work()
    return time.perf_counter() - begin


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    rows = parser.parse_args().rows
    begin = time.perf_counter()
    item = {
        name: TypeDeserializer().deserialize(TypeSerializer().serialize(value))
        for name, value in LISTINGS.encode(LISTING).items()
    }
    assert LISTINGS.decode(item) == decode_by_hand(item) == LISTING
    first = (time.perf_counter() - begin) * 1e3
    print(f"{rows} rows; first row, schema included: {first:.1f} ms")
    print(f"{'':8}{'by hand':>12}{'kit':>12}  µs a row")
    for name, by_hand, kit in (
        ("write", lambda: encode_by_hand(LISTING), lambda: LISTINGS.encode(LISTING)),
        ("read", lambda: decode_by_hand(item), lambda: LISTINGS.decode(item)),
    ):
        print(f"{name:8}{microseconds(by_hand, rows):12.1f}{microseconds(kit, rows):12.1f}")


if __name__ == "__main__":
    main()
