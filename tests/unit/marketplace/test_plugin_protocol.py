"""The plug-in's protocol, run in Node without a browser."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.conftest import ROOT

NODE = shutil.which("node")
PROTOCOL = ROOT / "clients" / "vinted-plugin" / "protocol.js"

STORY = """
import {Protocol} from "./protocol.mjs";
const kept = new Map([["stopped.0", {status: 0, body: {}}]]);
const memory = {
  get: async (key) => kept.get(key), set: async (key, answer) => { kept.set(key, answer); },
  drop: async (key) => { kept.delete(key); }, all: async () => [...kept],
};
const sent = [];
let end;
const act = () => new Promise((done) => { end = () => done({status: 200, body: {id: 1}}); });
const send = (each) => sent.push(each);
const plugin = new Protocol({send, act, memory, marketplace: "vinted", browser: "b"});
const said = () => sent.splice(0).map(({action, key, browser}) => [action, key ?? "", browser]);
const found = {};
const settled = () => new Promise((done) => setTimeout(done, 5));
plugin.receive({type: "task", key: "new.0"});
plugin.receive({type: "confirmed", of: "plugin.accepted", key: "new.0"});
await settled();
said();
await plugin.open();
found.while_it_acts = said();
end();
await settled();
said();
await plugin.open();
found.after_the_connection_was_lost = said();
await plugin.receive({type: "confirmed", of: "plugin.answer", key: "new.0"});
const details = {of: "plugin.answer", key: "stopped.0"};
await plugin.receive({type: "error", code: "NOT_FOUND", details});
await plugin.open();
found.once_nothing_is_left = said();
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(NODE is None, reason="no Node here")
def test_unconfirmed_answers_are_offered_at_each_hello(tmp_path: Path) -> None:
    (tmp_path / "protocol.mjs").write_text(PROTOCOL.read_text())
    story = tmp_path / "story.mjs"
    story.write_text(STORY)
    assert NODE is not None
    done = subprocess.run([NODE, story], capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    hello = ["plugin.hello", "", "b"]
    assert found == {
        "while_it_acts": [hello, ["plugin.answer", "stopped.0", "b"]],
        "after_the_connection_was_lost": [
            hello,
            ["plugin.answer", "stopped.0", "b"],
            ["plugin.answer", "new.0", "b"],
        ],
        "once_nothing_is_left": [hello],
    }
