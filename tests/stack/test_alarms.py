"""`make alarms`: each alarm changes to ALARM and back to OK, and its topic receives both."""

from tests.conftest import Stack


def test_causes_tell_their_topic_when_they_begin_and_when_they_end(stack: Stack) -> None:
    done = stack.command("alarms", seconds=150)
    assert done.returncode == 0, done.stdout + done.stderr
    states = dict(line.split(": ") for line in done.stdout.splitlines())
    assert states.keys() >= {"SweeperSilent", "EmbedderErrors", "AccessDenied"}
    assert len(states) >= 5
    assert set(states.values()) == {"ALARM → OK"}
