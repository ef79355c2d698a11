"""Render badges as SVG, for READMEs and external pages."""

from html import escape
from typing import Final

from spinneret.kernel import histogram
from spinneret.monitoring.status_page import rules
from spinneret.monitoring.status_page.models import BadgeKind, StatusPageRow
from spinneret.monitoring.status_page.rules import HealthLevel

_COLOURS: Final = {
    HealthLevel.GOOD: "#1a7f4b",
    HealthLevel.FAIR: "#9a5b00",
    HealthLevel.BAD: "#b3261e",
    HealthLevel.NONE: "#59636e",
}
_LABEL_CHARS: Final = 40
_NARROW: Final = frozenset("iljtfr.,:;|!'()[] I")
_WIDE: Final = frozenset("mwMW%@")
_PADDING: Final = 6


def badge_svg(line: StatusPageRow, kind: BadgeKind) -> str:
    """Render a badge: the target's name and one value."""
    label = rules.name_of(line)
    if len(label) > _LABEL_CHARS:
        label = f"{label[: _LABEL_CHARS - 1]}…"
    words, shade = _shown(line, kind)
    return _drawn(label, words, _COLOURS[shade])


def _shown(line: StatusPageRow, kind: BadgeKind) -> tuple[str, HealthLevel]:
    if kind is BadgeKind.STATUS:
        return rules.state_of(line)
    total = rules.total_of(line)
    if kind is BadgeKind.UPTIME:
        share = rules.uptime_of(total)
        return rules.percent(share), rules.shade_of(share)
    median = histogram.percentile(total.latencies, 0.5)
    if median is None:
        return "no data", HealthLevel.NONE
    limit = line.watched.target.options.degraded_ms
    slow = limit is not None and median > limit
    return f"{median:.0f} ms", HealthLevel.FAIR if slow else HealthLevel.GOOD


def _drawn(label: str, words: str, colour: str) -> str:
    left, right = (_width(text) + 2 * _PADDING for text in (label, words))
    label, words = escape(rules.xml_text(label)), escape(words)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {words}"><title>{label}: {words}</title>'
        # Elements have no ids, since a page may contain several inline badges.
        f'<rect width="{left + right}" height="20" rx="3" fill="{colour}"/>'
        f'<path d="M3 0h{left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3d444d"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" '
        f'font-size="11"><text x="{left / 2:g}" y="14">{label}</text>'
        f'<text x="{left + right / 2:g}" y="14">{words}</text></g></svg>\n'
    )


def _width(text: str) -> int:
    """Estimate the width in Verdana at 11 pixels: no font is available to measure."""
    return round(sum(4.2 if each in _NARROW else 10.5 if each in _WIDE else 7.1 for each in text))
