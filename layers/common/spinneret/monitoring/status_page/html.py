"""Render the status page as one HTML file without scripts or external resources.

Texts of tenants are escaped; notices are in `notices_html`.
"""

from datetime import datetime, timedelta
from html import escape
from typing import Final

from spinneret.kernel import histogram
from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.status_page import limits, rules
from spinneret.monitoring.status_page.models import StatusPageContent, StatusPageRow
from spinneret.monitoring.status_page.notices_html import notices_html

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_DAYS: Final = limits.STATUS_PAGE_DAYS
_BAR: Final = 8  # pixels, including the gap
_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2128;--soft:#59636e;--line:#d8dee4;--card:#fff;
--page:#f6f8fa;--good:#1a7f4b;--fair:#b26a00;--bad:#c9372c;--none:#c4ccd4}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;
--card:#161b22;--page:#0d1117;--good:#3fb968;--fair:#e0a030;--bad:#f26a5e;--none:#3d444d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:46rem;margin:0 auto;padding:2.5rem 1rem 3rem}
h1{font-size:1.6rem;margin:0 0 1.25rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:1.5rem 0 .6rem;overflow-wrap:anywhere}
.sum{color:#fff;padding:.9rem 1.1rem;border-radius:.6rem;font-weight:600;margin-bottom:1.5rem}
.sum.good{background:#1a7f4b}.sum.fair{background:#9a5b00}.sum.bad{background:#b3261e}
.sum.none{background:#59636e}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);
border-radius:.6rem}
li{padding:1rem 1.1rem;border-top:1px solid var(--line)}
li:first-child{border-top:0}
.top{display:flex;justify-content:space-between;gap:1rem}
.name{font-weight:600;overflow-wrap:anywhere}
.is{white-space:nowrap;font-weight:600}
.is.good{color:var(--good)}.is.fair{color:var(--fair)}.is.bad{color:var(--bad)}
.is.none{color:var(--soft)}
.low{display:flex;justify-content:space-between;color:var(--soft);font-size:.85rem}
svg{display:block;width:100%;height:2rem;margin:.6rem 0 .3rem}
rect.good{fill:var(--good)}rect.fair{fill:var(--fair)}rect.bad{fill:var(--bad)}
rect.none{fill:var(--none)}
.note{background:var(--card);border:1px solid var(--line);border-left:.3rem solid var(--fair);
border-radius:.6rem;padding:1rem 1.1rem;margin-bottom:1rem}
.note.over{border-left-color:var(--none)}
.note p{margin:.4rem 0 0;white-space:pre-line;overflow-wrap:anywhere}
.note time{color:var(--soft);font-size:.85rem}
footer{color:var(--soft);font-size:.85rem;margin-top:1.25rem}
"""


def page_html(shown: StatusPageContent) -> str:
    """Render the page."""
    title = escape(shown.page.title)
    words, shade = rules.headline(shown)
    active, ended = notices_html(shown.notices)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="refresh" content="60">'
        f'<link rel="alternate" type="application/atom+xml" href="{shown.page.slug}/feed.xml">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f'<body><main><h1>{title}</h1><div class="sum {shade}" role="status">{words}</div>'
        f"{active}{_listed(shown)}{ended}"
        f"<footer>As of {shown.now:%Y-%m-%d %H:%M} UTC. Bars are days, the last one is today; "
        "uptime leaves maintenance out.</footer></main></body></html>\n"
    )


def _listed(shown: StatusPageContent) -> str:
    """Render the groups, or all targets in one list."""
    if not shown.page.groups:
        lines = "".join(_line(line, shown.now) for line in shown.lines)
        if others := rules.others_of(shown):
            lines += f'<li class="low">{others}</li>'
        return f"<ul>{lines}</ul>" if lines else ""
    by_id = {line.watched.target.id: _line(line, shown.now) for line in shown.lines}
    groups = [
        (escape(group.name), "".join(by_id.get(each, "") for each in group.target_ids))
        for group in shown.page.groups
    ]
    return "".join(f"<h2>{name}</h2><ul>{lines}</ul>" for name, lines in groups if lines)


def _line(line: StatusPageRow, now: datetime) -> str:
    word, shade = rules.state_of(line)
    total = rules.total_of(line)
    median = histogram.percentile(total.latencies, 0.5)
    speed = "" if median is None else f"{median:.0f} ms · "
    share = rules.percent(rules.uptime_of(total))
    return (
        f'<li><div class="top"><span class="name">{escape(rules.name_of(line))}</span>'
        f'<span class="is {shade}">{word}</span></div>{_bars(line, now)}'
        f'<div class="low"><span>{_DAYS} days</span><span>{speed}{share}</span>'
        "<span>today</span></div>"
        f"{_incident(line)}</li>"
    )


def _incident(line: StatusPageRow) -> str:
    incident = line.watched.state.incident
    if incident is None:
        return ""
    return f'<div class="low"><span>Since {incident.started_at:%Y-%m-%d %H:%M} UTC</span></div>'


def _bars(line: StatusPageRow, now: datetime) -> str:
    by_day = {each.day: each.tally for each in line.days}
    today = rollups.day_of(now)
    bars = []
    for number in range(_DAYS):
        day = today - timedelta(days=_DAYS - 1 - number)
        tally = by_day.get(day)
        share = None if tally is None else rules.uptime_of(tally)
        note = f"{day:%Y-%m-%d}: {rules.percent(share)}"
        bars.append(
            f'<rect class="{rules.shade_of(share)}" x="{number * _BAR}" width="{_BAR - 2}" '
            f'height="32" rx="1.5"><title>{note}</title></rect>'
        )
    label = escape(f"Uptime of the last {_DAYS} days")
    width = _DAYS * _BAR - 2
    return (
        f'<svg viewBox="0 0 {width} 32" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(bars)}</svg>'
    )
