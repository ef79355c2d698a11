"""Contract tests of inbox stores: file versions that are read by range, and a report per version.

Only the stack tests that S3 rejects uploads that break the rules of their form.
"""

from collections.abc import Callable
from typing import Any

import pytest

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import InboxFile
from spinneret.crawl.inbox.ports import InboxStore
from spinneret.crawl.inbox.s3 import S3InboxStore
from spinneret.kernel.errors import NotFound
from tests.contract.backends import OF_AWS, OF_REAL_AWS
from tests.fakes.inbox import FakeInboxStore

Put = Callable[[str, bytes], InboxFile]
BODY = b"https://a.example/\nhttps://b.example/\n"


@pytest.fixture
def inbox(client_of: Callable[[str], Any] | None, bucket: str | None) -> Any:
    if client_of is None or bucket is None:
        yield FakeInboxStore()
        return
    client = client_of("s3")
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    yield S3InboxStore(client, bucket)
    found = client.list_object_versions(Bucket=bucket)
    for each in [*found.get("Versions", []), *found.get("DeleteMarkers", [])]:
        client.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])


@pytest.fixture
def put(inbox: Any, client_of: Callable[[str], Any] | None, bucket: str | None) -> Put:
    def put(key: str, body: bytes) -> InboxFile:
        if client_of is None:
            return InboxFile.arrived(key, inbox.put(key, body))
        answer = client_of("s3").put_object(Bucket=bucket, Key=key, Body=body)
        return InboxFile.arrived(key, answer["VersionId"])

    return put


@pytest.fixture
def remove(
    inbox: Any, client_of: Callable[[str], Any] | None, bucket: str | None
) -> Callable[[InboxFile], object]:
    if client_of is None:
        remove: Callable[[InboxFile], object] = inbox.remove
        return remove
    delete = client_of("s3").delete_object
    return lambda file: delete(Bucket=bucket, Key=file.key, VersionId=file.version)


@OF_AWS
def test_a_version_is_read_by_ranges_whatever_comes_after_it(inbox: InboxStore, put: Put) -> None:
    file = put("T/acme/inbox/i/list.txt", BODY)
    put("T/acme/inbox/i/list.txt", b"https://c.example/")
    assert inbox.size(file) == len(BODY)
    assert inbox.read(file, 0, 7) == BODY[:7]
    assert inbox.read(file, 7, len(BODY)) == BODY[7:]


@OF_AWS
def test_a_version_that_is_gone_is_not_found(
    inbox: InboxStore, put: Put, remove: Callable[[InboxFile], object]
) -> None:
    file = put("T/acme/inbox/i/list.txt", BODY)
    remove(file)
    with pytest.raises(NotFound):
        inbox.size(file)
    with pytest.raises(NotFound):
        inbox.read(file, 0, 7)


@OF_AWS
def test_what_is_kept_is_found_in_the_order_of_its_keys(inbox: InboxStore) -> None:
    for key, body in (("parts/a/2", b"2"), ("parts/a/1", b"0"), ("parts/a/1", b"1")):
        inbox.keep(key, body)
    inbox.keep("parts/b/1", b"3")
    assert list(inbox.kept("parts/a/")) == [b"1", b"2"]
    assert list(inbox.kept("parts/c/")) == []


@OF_AWS
@pytest.mark.parametrize("size", [0, 1, limits.INBOX_REPORT_PART_BYTES + 1])
def test_a_version_has_one_report(inbox: InboxStore, put: Put, size: int) -> None:
    first = put("T/acme/inbox/i/list.txt", BODY)
    lines = [b"x" * (size // 2), b"y" * (size - size // 2)]
    assert inbox.report(first, lines)
    assert not inbox.report(first, [b"other"])
    second = put("T/acme/inbox/i/list.txt", BODY)
    assert inbox.report(second, lines)
    assert not inbox.report(second, lines)


@OF_REAL_AWS
@pytest.mark.parametrize("size", [10, 2 * limits.INBOX_REPORT_PART_BYTES + 10])
def test_a_report_lies_beside_its_file(
    inbox: InboxStore, put: Put, client_of: Callable[[str], Any], bucket: str, size: int
) -> None:
    file = put("T/acme/inbox/i/list.txt", BODY)
    body = bytes(range(256)) * (size // 256 + 1)
    pieces = (body[at : at + 100_000] for at in range(0, len(body), 100_000))
    inbox.report(file, pieces)
    key = "T/acme/inbox/i/list.txt.report.ndjson"
    assert client_of("s3").get_object(Bucket=bucket, Key=key)["Body"].read() == body


@OF_AWS
def test_forms_and_links_are_for_one_key(inbox: InboxStore) -> None:
    _, fields = inbox.form("T/acme/inbox/i/list.txt", seconds=60)
    assert fields["key"] == "T/acme/inbox/i/list.txt"
    assert "T/acme/inbox/i/list.txt" in inbox.link("T/acme/inbox/i/list.txt", 60)
