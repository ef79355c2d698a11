"""Texts that a store accepts."""


def storable(text: str) -> str:
    """Replace unpaired surrogates by `?`: JSON's escapes and JavaScript have them, UTF-8 hasn't."""
    return text.encode("utf-8", "replace").decode()
