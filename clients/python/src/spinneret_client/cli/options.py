"""Options that several commands have, declared once."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

from spinneret_client.errors import ConfigurationError

T = TypeVar("T")
_SHARED: Final = "shared"


def sharing(declare: Callable[..., Any]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command the parameters of `declare` as options, and its result as `shared`.

    The command's own options come first in its help. A decorated function may itself declare
    options for further commands.
    """
    options = inspect.signature(declare, eval_str=True).parameters

    def decorated(command: Callable[..., T]) -> Callable[..., T]:
        own = inspect.signature(command, eval_str=True).parameters
        parameters = [each for each in own.values() if each.name != _SHARED]
        parameters += options.values()

        @functools.wraps(command)
        def run(**given: Any) -> T:
            shared = declare(**{name: given.pop(name) for name in options})
            return command(**given, **{_SHARED: shared})

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # any function may have it
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorated


def given(**values: Any) -> dict[str, Any]:
    """Return the values that aren't None."""
    return {name: each for name, each in values.items() if each is not None}


def headers_of(texts: Iterable[str] | None) -> dict[str, str]:
    """Return headers by name. Raises ConfigurationError."""
    return dict(_header(each) for each in texts or ())


def choices_of(texts: Iterable[str] | None) -> dict[str, str | None]:
    """Return ids by the name of the choice; None for `NAME=`. Raises ConfigurationError."""
    return dict(_choice(each) for each in texts or ())


def text_in(file: Path) -> str:
    """Return the text of a file, or of stdin for `-`, without a byte order mark.

    Raises ConfigurationError.
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} isn't text in UTF-8") from None


def urls_in(file: Path) -> list[str]:
    """Return the URLs of a file or stdin (see `text_in`), one per line; `#` begins a comment."""
    lines = map(str.strip, text_in(file).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        # The message omits the text, because it may be a secret.
        raise ConfigurationError("--header needs the form 'Name: value'")
    return name.strip(), value.strip()


def _choice(text: str) -> tuple[str, str | None]:
    name, equals, chosen = text.partition("=")
    if not equals:
        raise ConfigurationError(f"{text} is no choice: write it as NAME=ID")
    return name, chosen or None
