"""Configuration: arguments, then variables of the environment, then a profile of config.toml."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from spinneret_client.errors import ConfigurationError, NotConfigured

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

URL_VARIABLE: Final = "SPINNERET_URL"
KEY_VARIABLE: Final = "SPINNERET_API_KEY"
PROFILE_VARIABLE: Final = "SPINNERET_PROFILE"
FOLDER_VARIABLE: Final = "SPINNERET_CONFIG_HOME"
DEFAULT: Final = "default"
_FIELDS: Final = ("url", "key", "refresh_token", "expires_at")
_OF_A_HEADER: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Profile:
    """A stored connection: a key, or the tokens of a session with their expiry (epoch seconds)."""

    url: str
    key: str
    refresh_token: str | None = None
    expires_at: float | None = None

    def __repr__(self) -> str:
        return f"Profile(url={self.url!r}, key=…)"


@dataclass(frozen=True)
class Connection:
    """Target of requests; `sources` names the source of each value."""

    url: str
    key: str | None
    profile: str | None
    """Name of the profile that contains the key."""
    sources: Mapping[str, str]
    stored: Profile | None = None
    """Profile that contains the key."""

    def __repr__(self) -> str:
        return f"Connection(url={self.url!r}, key=…, profile={self.profile!r})"


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of config.toml."""
    if home := environment.get(FOLDER_VARIABLE):
        return Path(home) / "config.toml"
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "spinneret" / "config.toml"


def profile_name(profile: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the name of the profile in use."""
    return profile or environment.get(PROFILE_VARIABLE) or DEFAULT


def resolve(
    url: str | None = None,
    key: str | None = None,
    profile: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Connection:
    """Return the URL and the key to use. Raises ConfigurationError without a URL.

    A key of a profile is used only with that profile's URL: it must not reach another server.
    """
    name = profile_name(profile, environment)
    stored = load(config_path(environment)).get(name)
    is_needed = profile is not None or not (url and key)
    if stored is None and name != DEFAULT and is_needed:
        raise ConfigurationError(f"no profile {name}: run `spinneret login --profile {name}`")
    sources: dict[str, str] = {}
    found_url = _first(
        sources, "url", url, URL_VARIABLE, environment, stored.url if stored else None, name
    )
    found_key = _first(sources, "key", key, KEY_VARIABLE, environment, None, name)
    from_profile = None
    if found_key is None and stored is not None and found_url == stored.url:
        found_key, from_profile, sources["key"] = stored.key, name, f"profile {name}"
    if found_url is None:
        raise NotConfigured(f"no URL: run `spinneret login`, or set {URL_VARIABLE}")
    if found_key is not None and not _OF_A_HEADER.fullmatch(found_key):
        # httpx's error would contain the key.
        raise ConfigurationError(
            f"the key of {sources['key']} has a blank, a line end or a character beyond ASCII"
        )
    used = stored if from_profile is not None else None
    return Connection(checked_url(found_url), found_key, from_profile, sources, used)


def checked_url(url: str) -> str:
    """Return the URL of an API without a final slash. Raises ConfigurationError."""
    try:
        httpx.URL(url)
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for an impossible one
    except (httpx.InvalidURL, ValueError) as error:
        raise ConfigurationError(f"{url} is no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{url} is no URL: it must begin with https:// or http://")
    return url.rstrip("/")


def _first(
    sources: dict[str, str],
    field: str,
    argument: str | None,
    variable: str,
    environment: Mapping[str, str],
    stored: str | None,
    profile: str,
) -> str | None:
    for value, source in (
        (argument, "argument"),
        (environment.get(variable), variable),
        (stored, f"profile {profile}"),
    ):
        if value:
            sources[field] = source
            return value.rstrip("/") if field == "url" else value
    return None


def load(path: Path) -> dict[str, Profile]:
    """Return the profiles of a file, which may be absent.

    Raises ConfigurationError for a malformed file, and for a file that other users may read.
    """
    try:
        with path.open("rb") as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise ConfigurationError(
                    f"{path} holds keys and others may read it: run `chmod 600 {path}`"
                )
            content = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} isn't valid TOML: {error}") from error
    if unknown := content.keys() - {"profiles"}:
        raise ConfigurationError(f"{path} has an unknown setting: {', '.join(sorted(unknown))}")
    profiles = content.get("profiles", {})
    if not isinstance(profiles, dict):
        raise ConfigurationError(f"{path}: profiles isn't a table")
    return {name: _profile(path, name, each) for name, each in profiles.items()}


def _profile(path: Path, name: str, fields: Any) -> Profile:
    if not isinstance(fields, dict) or fields.keys() - set(_FIELDS):
        raise ConfigurationError(f"{path}: profile {name} may have only {', '.join(_FIELDS)}")
    if not {"url", "key"} <= fields.keys():
        raise ConfigurationError(f"{path}: profile {name} lacks url or key")
    for field, value in fields.items():
        if not isinstance(value, (int, float) if field == "expires_at" else str):
            raise ConfigurationError(f"{path}: profile {name} has a wrong value of {field}")
    return Profile(**fields)


def save(path: Path, name: str, profile: Profile | None) -> None:
    """Store a profile, or remove it if None; only the owner may read the file."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(path):
        profiles = load(path)
        profiles.pop(name, None)
        if profile is not None:
            profiles[name] = replace(profile, url=profile.url.rstrip("/"))
        write(path, profiles)


def write(path: Path, profiles: Mapping[str, Profile]) -> None:
    """Replace the file; the caller holds its lock."""
    lines = []
    for name, profile in sorted(profiles.items()):
        lines.append(f"[profiles.{_quoted(name)}]")
        for each in _FIELDS:
            value = getattr(profile, each)
            if value is not None:
                lines.append(f"{each} = {_quoted(value) if isinstance(value, str) else value}")
        lines.append("")
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.unlink(missing_ok=True)  # left by a killed process with the same id
    with open(temporary, "w", encoding="utf-8", opener=_private) as file:
        file.write("\n".join(lines))
    temporary.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_EXCL, 0o600)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # TOML's basic strings have the same escapes


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's lock, which all processes of this machine share."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_suffix(".lock").open("a+") as file:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - absent elsewhere

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - absent on Windows

            fcntl.flock(file, fcntl.LOCK_EX)  # closing the file releases the lock
        yield
