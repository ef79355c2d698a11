"""Credential of a profile: a key, or the access token of a session, refreshed before expiry."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx

from spinneret_client import errors
from spinneret_client.config import Profile, load, locked, write
from spinneret_client.generated.models import TokenView
from spinneret_client.generated.resources import Sessions
from spinneret_client.transport import Settings, Transport, new_call, parsed

MARGIN_SECONDS: Final = 60.0
"""Seconds between a token's refresh and its expiry: it must not expire during requests."""
_REFRESH_SECONDS: Final = 7.0
"""Time-out of an attempt; the second must begin while the server repeats its answer (10 s)."""
_REFRESH_RETRIES: Final = 1
_LONGEST_PAUSE: Final = 1.0  # seconds between attempts, even if the server requests more


class StoredSession:
    """The credential of a profile in a file that all processes of this machine share."""

    def __init__(
        self,
        path: Path,
        name: str,
        profile: Profile,
        *,
        http: Callable[[], httpx.Client | None] = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use the result of `http` as the client of refreshes; None means a new client."""
        self._path = path
        self._name = name
        self._profile = profile
        self._http = http
        self._clock = clock

    def credential(self) -> str:
        """Return the key, or an access token that is valid for at least MARGIN_SECONDS.

        Only one process refreshes at a time; the others read its tokens from the file. Raises
        AuthRequired if the session has ended, and the errors of any request.
        """
        if self._holds(self._profile):
            return self._profile.key
        with locked(self._path):
            profiles = load(self._path)
            stored = profiles.get(self._name)
            if stored is None or stored.url != self._profile.url or stored.refresh_token is None:
                raise errors.NotConfigured(f"profile {self._name} has no session any more")
            if not self._holds(stored):
                stored = self._refreshed(stored, stored.refresh_token)
                write(self._path, {**profiles, self._name: stored})
            self._profile = stored
        return self._profile.key

    def _holds(self, profile: Profile) -> bool:
        end = profile.expires_at
        return end is None or self._clock() < end - MARGIN_SECONDS

    def _refreshed(self, profile: Profile, token: str) -> Profile:
        """Return the profile with new tokens; the server repeats its answer for ten seconds."""
        settings = Settings(profile.url, lambda: None, _REFRESH_SECONDS, _REFRESH_RETRIES)
        transport = Transport(settings, self._http())
        transport.sleep = lambda seconds: time.sleep(min(seconds, _LONGEST_PAUSE))
        body = {"refresh_token": token}
        call = new_call("POST", "/api/v1/auth/refresh", body=body, reads=True)
        tokens = parsed(TokenView, transport.send(call))
        return with_tokens(profile, tokens, self._clock())


def sessions_at(url: str) -> Sessions:
    """Return the routes of sessions without any credential, for use before a sign-in."""
    return Sessions(Transport(Settings(url, lambda: None)))


def with_tokens(profile: Profile, tokens: TokenView, now: float) -> Profile:
    """Return a profile with the tokens of a sign-in or a refresh."""
    return replace(
        profile,
        key=tokens.access_token,
        refresh_token=tokens.refresh_token,
        expires_at=now + tokens.expires_in,
    )
