"""The console in a browser: the browser, its windows, and the console's built files."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from spinneret.runtime.console.site import PACKAGE
from spinneret.web.browser import unpacking
from stack.tools.chromium import chromium_tool
from stack.tools.npm import with_npm
from stack.tools.store import Store
from stack.workspace import Workspace
from tests.conftest import ROOT

SECONDS: Final = 60.0
"""Seconds in which a page must show something on a loaded machine."""
type Size = Mapping[str, Any]
"""Settings of a window: viewport and colours."""
WIDE: Final[Size] = {
    "viewport": {"width": 1280, "height": 900},
    "color_scheme": "light",
}
NARROW: Final[Size] = {
    "viewport": {"width": 390, "height": 844},
    "color_scheme": "dark",
}
NARROWEST: Final[Size] = {"viewport": {"width": 360, "height": 740}}
# Collects violations in the page, since the page's policy may block reports.
_WATCHED: Final = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""
# Frames contain no content of the console, and all style sheets have the page's origin.
_BARRIERS: Final = """
axe.run(document, { resultTypes: ["violations"], preload: false, iframes: false }).then((found) =>
  found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target)}`))
"""
_TOO_WIDE: Final = """
document.documentElement.scrollWidth > innerWidth ||
  [...document.querySelectorAll("dialog[open]")].some((each) => each.scrollWidth > each.clientWidth)
"""
_PRESSED: Final = """
name => {
  const all = [...document.querySelectorAll("main button[type=button]:enabled")];
  all.find((each) => each.innerText === name)?.click();
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(Boolean(document.querySelector("dialog[open]"))))));
}
"""
_UNFOLDED: Final = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
_TARGETS: Final = "links => [...new Set(links.map((link) => link.protocol))]"
HARMLESS: Final = re.compile(
    r"Menu|Sign out|Refresh|Show more|Close|Try again|Remove the filters|Pages|Batches|Websites"
    r"|Screenshots|PDFs|Scripts|Web page|HTML|JSON|CSV|Markdown|JUnit|SARIF"
    r"|Look|Change it|Copy|\d+|.*\d\d:\d\d.*"
)
"""Buttons that only read or change the user's own account."""
FLAGS: Final = ("--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage")


def installed_browser() -> tuple[Path, dict[str, str]]:
    """Return the browser that the local stack installs, and the variables that it needs."""
    workspace = Workspace.from_environment(os.environ)
    folder = Store(workspace).ensure(chromium_tool(workspace))
    return folder / unpacking.PROGRAM, {
        "HOME": str(folder),
        "LD_LIBRARY_PATH": str(folder / unpacking.LIBRARIES),
        "FONTCONFIG_FILE": str(folder / unpacking.FONT_SETTINGS),
    }


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run the installed browser."""
    program, variables = installed_browser()
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*FLAGS], env={**variables}
        )
        yield browser
        browser.close()


class Window:
    """A page in a separate browser context, with its failures."""

    def __init__(self, browser: Browser, size: Size, axe: str = "") -> None:
        """Open the window; `axe` is the script of axe-core, which `problems` needs."""
        self.context = browser.new_context(
            **size, reduced_motion="reduce", locale="en-GB", timezone_id="UTC"
        )
        self.context.set_default_timeout(SECONDS * 1000)
        self.context.add_init_script(_WATCHED + axe)
        self.page: Page = self.context.new_page()
        self.failures: list[str] = []
        """Uncaught exceptions, and dialogs that a script opened."""
        self.page.on("pageerror", lambda error: self.failures.append(str(error)))
        self.page.on("dialog", self._refuse)

    def _refuse(self, dialog: Any) -> None:
        self.failures.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def violations(self) -> list[str]:
        """Return the violations of the page's policy."""
        found: list[str] = self.page.evaluate("violations")
        return found

    def is_too_wide(self) -> bool:
        """Return whether the page or its dialog must be scrolled horizontally."""
        return bool(self.page.evaluate(_TOO_WIDE))

    def opens_dialog(self, name: str) -> bool:
        """Press the first button with this name; return whether a dialog opened."""
        return bool(self.page.evaluate(_PRESSED, name))

    def unfold(self) -> None:
        """Open all folded elements."""
        self.page.evaluate(_UNFOLDED)

    def resize(self, size: Size) -> None:
        """Change the window's viewport, but not its colours."""
        self.page.set_viewport_size(size["viewport"])
        width = size["viewport"]["width"]
        self.page.wait_for_function("width => innerWidth === width", arg=width)

    def problems(self) -> list[str]:
        """Return the problems of the current page.

        These are: violated accessibility rules, a page that is too wide, links with protocols other
        than HTTP and HTTPS, violations of the page's policy, uncaught exceptions, and dialogs of
        scripts.
        """
        found: list[str] = self.page.evaluate(_BARRIERS)
        if self.is_too_wide():
            found.append("has to be scrolled sideways")
        targets = set(self.page.locator("a[href]").evaluate_all(_TARGETS))
        found += sorted(targets - {"http:", "https:"})
        found += [*self.violations(), *self.failures]
        self.failures.clear()
        return found

    def close(self) -> None:
        """Close the window."""
        self.context.close()


def built_console(scratch: Path) -> Path:
    """Build the layer of the console below `scratch`; return the folder of its files."""
    workspace = Workspace.from_environment(os.environ)
    sources = scratch / "console"
    shutil.copytree(ROOT / "console", sources, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(
        ["make", "--silent", "build-ConsoleLayer", f"ARTIFACTS_DIR={scratch / 'layer'}"],
        cwd=sources,
        env=with_npm(Store(workspace), os.environ),
        check=True,
        capture_output=True,
        timeout=600,
    )
    return scratch / "layer" / "python" / PACKAGE


def axe_in(scratch: Path) -> str:
    """Return the script of axe-core, after the build."""
    return (scratch / "console" / "node_modules" / "axe-core" / "axe.min.js").read_text()
