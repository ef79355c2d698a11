"""Style and script of the HTML report, which loads nothing from other places."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff;
  --card: #f6f8fa; --link: #0b5cad; --good: #1a7f4b; --fair: #9a6700; --bad: #b42318;
  --critical: #b42318; --high: #c4460a; --medium: #8a6100; --low: #3d6b94; --info: #5b6675; }
@media screen and (prefers-color-scheme: dark) { :root {
  --ink: #e6eaf0; --soft: #9aa6b5; --line: #333c48; --paper: #12161c; --card: #1a2028;
  --link: #6db3f2; --good: #4cc38a; --fair: #e0b040;
  --bad: #ff7b72; --critical: #ff7b72; --high: #ff9b5e; --medium: #e0b040; --low: #7fb2e0;
  --info: #9aa6b5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere; line-height: 1.25; }
h2 { font-size: 18px; margin: 40px 0 12px; }
a { color: var(--link); overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.top { display: flex; gap: 28px; align-items: center; flex-wrap: wrap; }
.top > div { flex: 1 1 360px; }
.ring { width: 132px; height: 132px; flex: none; }
.ring circle { fill: none; stroke-width: 10; }
.ring .back { stroke: var(--line); }
.ring text { fill: var(--ink); text-anchor: middle; font-weight: 650; }
.good { color: var(--good); } .fair { color: var(--fair); } .bad { color: var(--bad); }
.ring .good, .ring .fair, .ring .bad { stroke: currentColor; stroke-linecap: round; }
.counts { display: flex; flex-wrap: wrap; gap: 8px; margin: 14px 0 0; padding: 0;
  list-style: none; }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 12px; }
.counts b { font-size: 17px; margin-right: 4px; font-variant-numeric: tabular-nums; }
.notes { margin: 12px 0 0; padding-left: 20px; }
.bars { display: grid; gap: 8px 36px;
  grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); }
.bar { display: grid; grid-template-columns: 130px 1fr 48px; gap: 10px; align-items: center; }
.bar .track { height: 9px; border-radius: 5px; background: var(--line); overflow: hidden; }
.bar .fill { height: 100%; border-radius: 5px; background: currentColor; }
.bar .number { text-align: right; font-variant-numeric: tabular-nums; }
.filters { display: flex; flex-wrap: wrap; gap: 10px; margin-bottom: 12px; }
.filters label { align-self: center; display: flex; align-items: center; gap: 6px; }
.filters select, .filters input[type=search] { font: inherit; color: inherit;
  background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px; }
.filters input[type=search] { flex: 1 1 220px; }
.issue { border: 1px solid var(--line); border-radius: 8px; margin-bottom: 8px;
  background: var(--card); }
.issue > summary { display: grid; gap: 12px;
  grid-template-columns: 76px 1fr 130px 90px 116px;
  padding: 10px 14px; cursor: pointer; align-items: baseline; list-style: none; }
.issue > summary::-webkit-details-marker { display: none; }
.issue > summary:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
.issue .title { font-weight: 600; }
.issue .right, td.right,
th.right { text-align: right; font-variant-numeric: tabular-nums; }
.issue .inside { padding: 0 14px 14px; border-top: 1px solid var(--line); overflow-x: auto; }
.change { border: 1px solid var(--line); border-radius: 8px; margin-bottom: 8px;
  background: var(--card); padding: 10px 14px; overflow-x: auto; }
.change > summary { cursor: pointer; font-weight: 600; }
.tag { font-size: 12px; font-weight: 650; text-transform: uppercase; letter-spacing: .03em; }
.critical { color: var(--critical); } .high { color: var(--high); }
.medium { color: var(--medium); } .low { color: var(--low); } .info { color: var(--info); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
.issue table { table-layout: fixed; min-width: 640px; }
.issue th:nth-child(1) { width: 36%; } .issue th:nth-child(4) { width: 18%; }
.scroll td.url { min-width: 220px; }
code { font: 13px/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  overflow-wrap: anywhere; }
.new { background: var(--link); color: var(--paper); border-radius: 4px; font-size: 11px;
  padding: 0 5px; margin-left: 6px; }
.scroll { overflow-x: auto; }
[hidden] { display: none !important; }
@media (max-width: 720px) { .issue > summary { grid-template-columns: 76px 1fr; }
  .issue > summary .wide { display: none; } main { padding: 20px 14px 40px; } }
@media print { :root { color-scheme: light; } .issue table { min-width: 0; }
  .filters { display: none; } main { max-width: none; padding: 0; }
  .issue { break-inside: auto; } .issue > summary, tr, .bar { break-inside: avoid; }
  h2 { break-after: avoid; } }
"""

SCRIPT: Final = """
"use strict";
const issues = [...document.querySelectorAll(".issue")];
const folds = [...document.querySelectorAll("details")];
const text = document.getElementById("text");
const severity = document.getElementById("severity");
const category = document.getElementById("category");
const fresh = document.getElementById("fresh");
const shown = document.getElementById("shown");
function filter() {
  const word = text.value.trim().toLowerCase();
  let count = 0;
  for (const issue of issues) {
    const fits = (!severity.value || issue.dataset.severity === severity.value)
      && (!category.value || issue.dataset.category === category.value)
      && (!fresh || !fresh.checked || issue.dataset.fresh === "1")
      && (!word || issue.textContent.toLowerCase().includes(word));
    issue.hidden = !fits;
    count += fits;
  }
  shown.textContent = count === issues.length ? "" : `${count} of ${issues.length} shown`;
}
for (const control of [text, severity, category, fresh]) {
  if (control) control.addEventListener("input", filter);
}
let closed = [];
addEventListener("beforeprint", () => {
  closed = folds.filter((fold) => !fold.open);
  for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => { for (const fold of closed) fold.open = false; });
"""
