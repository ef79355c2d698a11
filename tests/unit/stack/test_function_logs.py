"""`logs --function`: the log lines of all processes of a function."""

from collections.abc import Iterator, Sequence
from typing import Any

from stack.logs import lines_since


class Logs:
    """CloudWatch Logs that lists a group's events stream by stream, as LocalStack does."""

    def __init__(self, *streams: Sequence[tuple[int, str]]) -> None:
        self.streams = streams

    def get_paginator(self, operation: str) -> "Logs":
        assert operation == "filter_log_events"
        return self

    def paginate(self, **given: Any) -> Iterator[dict[str, Any]]:
        for stream in self.streams:
            events = [{"timestamp": at, "message": f"{text}\n"} for at, text in stream]
            yield {"events": [each for each in events if each["timestamp"] >= given["startTime"]]}


def test_the_last_lines_are_the_latest_of_all_processes() -> None:
    logs = Logs([(1, "a"), (5, "e"), (5, "f")], [(2, "b"), (3, "c"), (4, "d")])
    lines, since = lines_since(logs, "/aws/lambda/sweeper", 0)
    assert ("".join(lines), since) == ("abcdef", 6)
    assert lines_since(logs, "/aws/lambda/sweeper", since) == ([], 6)
