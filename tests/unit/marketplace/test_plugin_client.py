"""The reference plug-in's files, run in a browser of this machine."""

import html
import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from tests.architecture.conftest import ROOT

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PAGE = ROOT / "tests" / "markets" / "plugin_client.html"
PLUGIN = ROOT / "clients" / "vinted-plugin"
FILES = ("answers.js", "settings.js", "protocol.js", "background.js")

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(BROWSER is None, reason="no browser here")]


def _script() -> str:
    """Return the plug-in as one script: the browser's virtual time doesn't wait for files."""
    text = "\n".join((PLUGIN / name).read_text() for name in FILES)
    return re.sub(r"^(import .+;|export (?=\w))", "", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Provide the results of the page's stories, by story."""
    assert BROWSER is not None
    page = tmp_path_factory.mktemp("plugin") / "page.html"
    page.write_text(PAGE.read_text().replace("/* THE PLUG-IN'S FILES */", _script()))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += ["--virtual-time-budget=60000", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    shown = re.search(r'<pre id="out">(.*?)</pre>', done.stdout, re.DOTALL)
    assert shown is not None
    stories: dict[str, Any] = json.loads(html.unescape(shown[1]))
    return stories


STORIES: dict[str, Any] = {
    "without_settings": ["options"],
    "hello": [["plugin.hello", "vinted"]],
    "before_it_is_confirmed": 0,
    "answers_of_one_task": [[200, {"draft": {"id": 7}}]] * 2,
    "done_once": 1,
    "kept": [True, False],
    "after_its_end": 1,
    "without_an_answer": 0,
    "a_refusal": [422, "title", 150],
    "stopped_meanwhile": [1, 0],
    "after_a_lost_connection": ["ticket", "socket"],
    "offered_again": [["plugin.hello", ""], ["plugin.answer", "b"], ["plugin.answer", "c"]],
    "with_a_revoked_key": ["ticket", "badge !"],
}


# covers B-07
@pytest.mark.parametrize("story", STORIES)
def test_the_plug_in_keeps_to_its_protocol(story: str, found: dict[str, Any]) -> None:
    assert found[story] == STORIES[story]
