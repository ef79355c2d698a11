"""Requests and responses about people."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
)

from spinneret.access import limits
from spinneret.access.permissions import Role
from spinneret.access.users.models import User
from spinneret.kernel.clock import to_iso
from spinneret.kernel.views import ListOf

UserName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.USER_NAME_MAX_CHARS),
]


def _of_whole_characters(password: SecretStr) -> SecretStr:
    try:
        password.get_secret_value().encode()
    except UnicodeEncodeError:
        raise ValueError("has an unpaired surrogate") from None  # the cause shows a character
    return password


GivenPassword = Annotated[
    SecretStr,
    Field(max_length=8 * limits.PASSWORD_MAX_CHARS),
    AfterValidator(_of_whole_characters),
]


class UserRequest(BaseModel):
    """Body of `POST /api/v1/users`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    email: Annotated[str, StringConstraints(min_length=3, max_length=limits.EMAIL_MAX_CHARS)]
    """Address, unique in the tenant; compared in lower case."""
    name: UserName
    """Name for people."""
    role: Annotated[Role, Field(strict=False)]
    """Role: `admin`, `seller` or `viewer`."""


class UserUpdate(BaseModel):
    """Body of `PUT /api/v1/users/{user_id}`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: UserName
    """Name for people."""
    role: Annotated[Role, Field(strict=False)]
    """Role: `admin`, `seller` or `viewer`."""
    is_active: bool
    """Whether the person may sign in."""


class UserView(BaseModel):
    """A person of the tenant."""

    user_id: str
    """Id of the person."""
    email: str
    """Normalized e-mail address."""
    name: str
    """Name for people."""
    role: Role
    """Role: `admin`, `seller` or `viewer`."""
    is_active: bool
    """Whether the person may sign in."""
    has_password: bool
    """False until the invitation is accepted."""
    created_at: str
    last_login_at: str | None
    """Time of the last sign-in (RFC 3339, UTC); null before the first."""


class InvitedUser(UserView):
    """A new person with the invitation, which no later response contains."""

    invitation: str
    """Secret for `POST /api/v1/auth/accept`, valid for 72 hours."""


class UserList(ListOf[UserView]):
    """One page of people, oldest first."""


class AcceptRequest(BaseModel):
    """Body of `POST /api/v1/auth/accept`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    invitation: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    """Invitation that the administrator got."""
    password: GivenPassword
    """15 to 128 characters, not the e-mail address, none of the commonest."""


class PasswordRequest(BaseModel):
    """Body of `POST /api/v1/auth/password`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    current_password: GivenPassword
    """Password until now."""
    new_password: GivenPassword
    """15 to 128 characters, not the e-mail address, none of the commonest."""


def user_view(user: User) -> UserView:
    """Return the view of a user."""
    return UserView(
        user_id=user.id,
        email=user.email,
        name=user.name,
        role=user.role,
        is_active=user.is_active,
        has_password=user.has_password,
        created_at=to_iso(user.created_at),
        last_login_at=to_iso(user.last_login_at) if user.last_login_at else None,
    )


def invited_user(user: User, invitation: str) -> InvitedUser:
    """Return the response with a new user."""
    return InvitedUser(**user_view(user).model_dump(), invitation=invitation)
