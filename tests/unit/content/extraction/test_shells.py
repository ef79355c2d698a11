"""Pages that are empty without their scripts (shells of frameworks), and small real pages.

docs/media.md states the numbers of letters and digits that these pages have without scripts.
"""

import pytest

from spinneret.content.extraction.shells import SHELL_MAX_LETTERS, is_shell

APP = '<script type="module" src="/assets/index-4f2a.js"></script>'
MENU = "<nav><a href=/>Home</a> <a href=/p>Products</a> <a>Blog</a> <a>Contact</a></nav>"
FOOTER = "<footer>© 2026 Weavers Ltd. Terms of service. Privacy policy. Imprint.</footer>"
ADVICE = "You need to enable JavaScript to run this app, and then please reload this page. " * 5
SENTENCE = "An orb weaver rebuilds its web every night and eats the old silk. "

SHELLS = {
    "an empty root": f'<title>Weavers</title><div id="root"></div>{APP}',
    "a root with advice": f'<noscript>{ADVICE}</noscript><div id="app"></div>{APP}',
    "a word while it loads": f"<app-root>Loading…</app-root>{APP}",
    "a splash": f"<div id=splash><h1>Weavers</h1><p>Starting your workshop …</p></div>{APP}",
    "a frame of menu and footer": f'{MENU}<main id="root"></main>{FOOTER}{APP}',
    "state in a script": f'<div id="__app"></div><script>window.state = "{SENTENCE * 20}"</script>',
    "state as data": (
        f'<div id=app></div><script type="application/json">"{SENTENCE * 20}"</script>{APP}'
    ),
    "a template": f"<template><p>{SENTENCE * 20}</template><x-page></x-page>{APP}",
    "much style": f"<style>/* {SENTENCE * 20} */</style><div id=app></div>{APP}",
    "XHTML": f'<html xmlns="http://www.w3.org/1999/xhtml"><body><div/>{APP}</body></html>',
}
PAGES = {
    "without scripts": "<p>It works!",
    "only data in scripts": '<p>Hello.<script type="application/ld+json">{}</script>',
    "a short article": f"<h1>Orb webs</h1><p>{SENTENCE * 5}</p>{APP}",
    "a short article in a frame": f"{MENU}<p>{SENTENCE * 3}</p>{FOOTER}{APP}",
    "a frame without scripts": f"{MENU}<main></main>{FOOTER}",
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_is_found(name: str) -> None:
    media_type = "application/xhtml+xml" if name == "XHTML" else "text/html"
    assert is_shell(SHELLS[name], media_type)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_text_or_without_scripts_is_none(name: str) -> None:
    assert not is_shell(PAGES[name], "text/html")


def test_the_text_counts_by_letters_and_digits() -> None:
    for count, expected in ((SHELL_MAX_LETTERS - 1, True), (SHELL_MAX_LETTERS, False)):
        assert is_shell(f"<p>{'a. ' * (count - 1)}1</p>{APP}", "text/html") is expected


@pytest.mark.parametrize(
    ("text", "media_type"),
    [("", "text/html"), (APP, "text/plain"), ("<script/>", "application/xml"), ("<a", "text/html")],
)
def test_what_is_no_page_is_none(text: str, media_type: str) -> None:
    assert not is_shell(text, media_type)
