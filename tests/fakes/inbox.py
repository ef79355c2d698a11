"""The inbox's bucket in memory."""

from collections.abc import Iterable, Iterator, Mapping

from spinneret.crawl.inbox.models import InboxFile
from spinneret.kernel.errors import NotFound


class FakeInboxStore:
    """Implements InboxStore; `put` acts as a client, and `remove` deletes a version permanently."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], bytes] = {}
        self._kept: dict[str, bytes] = {}
        self._reports: dict[str, list[tuple[str, bytes]]] = {}
        self.reads: list[tuple[int, int]] = []
        """Requested ranges of bytes."""

    def put(self, key: str, body: bytes) -> str:
        """Store a file; return its version."""
        version = f"v{len(self._versions) + 1}"
        self._versions[key, version] = body
        return version

    def remove(self, file: InboxFile) -> None:
        """Delete this version of the file."""
        del self._versions[file.key, file.version]

    def reports(self, file: InboxFile) -> list[bytes]:
        """Return all versions of a file's report."""
        return [body for _, body in self._reports.get(file.report_key, [])]

    def form(self, key: str, *, seconds: int) -> tuple[str, Mapping[str, str]]:
        return "https://inbox.example/", {"key": key, "until": str(seconds)}

    def link(self, key: str, seconds: int) -> str:
        return f"https://inbox.example/{key}?X-Amz-Expires={seconds}"

    def size(self, file: InboxFile) -> int:
        return len(self._body(file))

    def read(self, file: InboxFile, first: int, end: int) -> bytes:
        self.reads.append((first, end))
        return self._body(file)[first:end]

    def keep(self, key: str, body: bytes) -> None:
        self._kept[key] = body

    def kept(self, prefix: str) -> Iterator[bytes]:
        return iter([body for key, body in sorted(self._kept.items()) if key.startswith(prefix)])

    def report(self, file: InboxFile, lines: Iterable[bytes]) -> bool:
        written = self._reports.setdefault(file.report_key, [])
        if written and written[-1][0] == file.version:
            return False
        written.append((file.version, b"".join(lines)))
        return True

    def _body(self, file: InboxFile) -> bytes:
        try:
            return self._versions[file.key, file.version]
        except KeyError:
            raise NotFound("the file is gone") from None
