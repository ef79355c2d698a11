"""Recorded requests are read back unchanged."""

from pathlib import Path

import pytest

from tests.markets.recording import VARIABLE, record, recorded
from tests.markets.web import RecordedRequest

SEEN = RecordedRequest(
    "POST", "/v3/x", {"a": ["1", "2"]}, {"content-type": "image/jpeg"}, b"\xff\xd8"
)


def test_a_request_that_is_kept_comes_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "requests.jsonl"
    record(SEEN)
    assert not path.exists()
    monkeypatch.setenv(VARIABLE, str(path))
    record(SEEN)
    record(SEEN)
    assert list(recorded(path)) == [SEEN, SEEN]
