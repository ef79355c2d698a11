"""The client's URL and key: arguments, variables, profiles, and the file of the profiles."""

# covers L-01
import os
import stat
from pathlib import Path

import pytest

from spinneret_client import ConfigurationError
from spinneret_client.config import Profile, load, resolve, save

STORED = Profile("https://stored.example", "sk-stored")


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [
        ({}, {}, ("https://stored.example", "sk-stored", "default")),
        ({}, {"SPINNERET_API_KEY": "sk-env"}, ("https://stored.example", "sk-env", None)),
        (
            {"key": "sk-arg"},
            {"SPINNERET_API_KEY": "sk-env"},
            ("https://stored.example", "sk-arg", None),
        ),
        (
            {"url": "https://arg.example/", "key": "k"},
            {"SPINNERET_URL": "https://env.example"},
            ("https://arg.example", "k", None),
        ),
        # A stored key is sent only to its own server.
        ({"url": "https://arg.example"}, {}, ("https://arg.example", None, None)),
        ({"profile": "other"}, {}, ("https://other.example", "sk-other", "other")),
        ({}, {"SPINNERET_PROFILE": "other"}, ("https://other.example", "sk-other", "other")),
    ],
)
def test_arguments_precede_variables_and_profiles(
    no_profile: Path,
    arguments: dict[str, str],
    variables: dict[str, str],
    expected: tuple[str, str | None, str | None],
) -> None:
    save(no_profile, "default", STORED)
    save(no_profile, "other", Profile("https://other.example/", "sk-other"))
    found = resolve(
        **arguments, environment={"SPINNERET_CONFIG_HOME": str(no_profile.parent), **variables}
    )
    assert (found.url, found.key, found.profile) == expected


def test_a_stored_profile_reads_back_and_only_its_owner_can_read_it(no_profile: Path) -> None:
    odd = Profile('https://a.example/"ü"', 'k\\"\n\t😀', refresh_token="r", expires_at=12.5)
    save(no_profile, 'a "name".x', odd)
    assert load(no_profile) == {'a "name".x': odd}
    assert stat.S_IMODE(no_profile.stat().st_mode) == 0o600
    save(no_profile, 'a "name".x', None)
    assert load(no_profile) == {}


def test_a_file_that_others_may_read_is_refused(no_profile: Path) -> None:
    save(no_profile, "default", STORED)
    no_profile.chmod(0o640)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        resolve()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[profiles", "TOML"),
        ("[profile.x]", "unknown setting: profile"),
        ('[profiles.x]\nurl = "https://x"\nkey = "k"\ntimeout = 3', "profile x may have only"),
        ('[profiles.x]\nurl = "https://x"', "lacks url or key"),
        ("profiles = 1", "profiles"),
        ('[profiles.x]\nurl = 1\nkey = "k"', "profile x"),
        ('[profiles.x]\nurl = "https://x"\nkey = "k"\nexpires_at = "soon"', "profile x"),
    ],
)
def test_a_faulty_file_is_explained(no_profile: Path, text: str, fault: str) -> None:
    no_profile.write_text(text)
    no_profile.chmod(0o600)
    with pytest.raises(ConfigurationError, match=fault):
        resolve()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "spinneret login"),
        ({"url": "example.com"}, "https://"),
        ({"profile": "x"}, "no profile x"),
        ({"url": "https://[x"}, "is no URL"),
        ({"url": "https://example.com:99999"}, "is no URL"),
        ({"url": "https://example.com\r"}, "is no URL"),
    ],
)
def test_missing_configuration_says_what_to_do(arguments: dict[str, str], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        resolve(**arguments)


@pytest.mark.parametrize("key", ["hush\r", "hush\n", "hüsh", "hush hush"])
def test_a_key_that_no_header_carries_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="key") as caught:
        resolve("https://example.com", key)
    assert "sh" not in str(caught.value)


def test_arguments_need_no_profile(no_profile: Path) -> None:
    environment = {"SPINNERET_CONFIG_HOME": str(no_profile.parent), "SPINNERET_PROFILE": "new"}
    found = resolve("https://arg.example", "k", environment=environment)
    assert (found.url, found.key, found.profile) == ("https://arg.example", "k", None)


def test_a_draft_that_a_killed_process_left_is_replaced(no_profile: Path) -> None:
    no_profile.with_suffix(f".{os.getpid()}").write_text("half of")
    save(no_profile, "default", STORED)
    assert load(no_profile) == {"default": STORED}
