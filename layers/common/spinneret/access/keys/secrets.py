"""Stored form of random secrets."""

import hashlib

from spinneret.kernel.errors import AuthRequired


def hash_of(secret: str) -> str:
    """Return the SHA-256 of a secret of at least 128 random bits, as hexadecimal digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def credential_refused() -> AuthRequired:
    """Return the one refusal of every key, token and ticket."""
    return AuthRequired("a valid API key or access token is required")
