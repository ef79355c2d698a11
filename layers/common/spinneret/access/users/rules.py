"""Rules of addresses, passwords and invitations, as pure functions."""

import hmac
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Final

from ada_url import idna

from spinneret.access import limits
from spinneret.access.keys.secrets import hash_of
from spinneret.access.users.common_passwords import common_passwords
from spinneret.access.users.models import User
from spinneret.kernel.errors import ValidationFailed

INVITATION_PREFIX: Final = "spi_"
_LOCAL: Final = re.compile(r"[^\s@\x00-\x1f\x7f]{1,64}")
_DOMAIN: Final = re.compile(r"(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}")


def normalized_email(email: str) -> str:
    """Return the form in which addresses are compared: NFKC, lower case, domain in ASCII.

    Raises ValidationFailed for what is no address.
    """
    local, at, domain = unicodedata.normalize("NFKC", email.strip()).lower().rpartition("@")
    # The encoder ends a domain at its first NUL.
    ascii_domain = "" if "\0" in domain else idna.encode(domain).decode()
    normalized = f"{local}@{ascii_domain}"
    if (
        not at
        or len(normalized) > limits.EMAIL_MAX_CHARS
        or not _LOCAL.fullmatch(local)
        or not _DOMAIN.fullmatch(ascii_domain)
    ):
        raise ValidationFailed.of_field("email", "the address isn't an e-mail address")
    return normalized


def normalized_password(password: str) -> str:
    """Return the form that is hashed: NFKC (NIST SP 800-63B-4, section 3.1.1.2)."""
    return unicodedata.normalize("NFKC", password)


def checked_password(password: str, email: str) -> str:
    """Return the normalized password. Raises ValidationFailed that names the broken rule."""
    normalized = normalized_password(password)
    if not limits.PASSWORD_MIN_CHARS <= len(normalized) <= limits.PASSWORD_MAX_CHARS:
        raise ValidationFailed.of_field(
            "password",
            f"a password has {limits.PASSWORD_MIN_CHARS} to {limits.PASSWORD_MAX_CHARS} characters",
        )
    lower = normalized.lower()
    if lower == email:
        raise ValidationFailed.of_field(
            "password", "the password must differ from the e-mail address"
        )
    if lower in common_passwords() or len(set(lower)) == 1:
        raise ValidationFailed.of_field(
            "password", "the password is one of the commonest; choose another"
        )
    return normalized


def new_invitation(tenant: str, user_id: str, random: Callable[[int], bytes]) -> tuple[str, str]:
    """Return an invitation, which names its user, and the hash to store."""
    invitation = f"{INVITATION_PREFIX}{tenant}.{user_id}.{random(32).hex()}"
    return invitation, hash_of(invitation)


def invited(invitation: str) -> tuple[str, str] | None:
    """Return the tenant and the user that an invitation names; None if it is malformed."""
    parts = invitation.removeprefix(INVITATION_PREFIX).split(".")
    if not invitation.startswith(INVITATION_PREFIX) or len(parts) != 3:
        return None
    return parts[0], parts[1]


def may_accept(user: User, invitation: str, now: datetime) -> bool:
    """Return whether this is the open invitation of an active user."""
    return (
        user.is_active
        and user.invitation_hash is not None
        and user.invited_until is not None
        and now < user.invited_until
        and hmac.compare_digest(user.invitation_hash, hash_of(invitation))
    )
