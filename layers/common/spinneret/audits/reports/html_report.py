"""HTML report on one page that makes no requests; every value in it is escaped."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from spinneret.audits.checks.catalogue import by_id
from spinneret.audits.checks.models import Category, CheckScope, Evidence, Severity
from spinneret.audits.comparison import RunComparison
from spinneret.audits.findings import Finding
from spinneret.audits.judging import PageResult
from spinneret.audits.reports.html_parts import SCRIPT, STYLE
from spinneret.audits.reports.models import PRODUCT, Issue, ReportContent

MAX_PAGES: Final = 50
"""Maximum pages listed per issue; CSV and JSON contain all."""
MAX_EVIDENCE: Final = 3
"""Maximum evidence shown for a page of an issue."""
MAX_CHANGED: Final = 200
"""Maximum issues in each list of changes; the comparison's route has all."""
MAX_LISTED: Final = 2000
"""Maximum pages in the list at the end."""
GOOD: Final = 90.0
FAIR: Final = 70.0
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_NAMES: Final = {"http": "HTTP", "urls": "URLs", "robots": "robots.txt"}
_CIRCUMFERENCE: Final = 2 * 3.14159265 * 56
_ISSUE_COLUMNS: Final = ("page", "where", "value", "expected")
_CHANGE_COLUMNS: Final = ("issue", "page")
_PAGE_COLUMNS: Final = ("page", "status", "score", "issues", "words", "clicks")


def render(report: ReportContent) -> Iterator[str]:
    """Yield summary, categories, issues with filters and evidence, pages."""
    title = escape(f"Audit of {report.result.start_url}")
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="robots" content="noindex">'
    yield f"<title>{title}</title><style>{STYLE}</style></head>\n<body><main>\n"
    yield from _summary(report, title)
    yield from _categories(report)
    if report.comparison:
        yield from _changes(report.comparison)
    yield from _issues(report)
    yield from _pages(report.result.pages)
    yield from _foot(report)
    yield f"</main><script>{SCRIPT}</script></body></html>\n"


def _summary(report: ReportContent, title: str) -> Iterator[str]:
    result = report.result
    total = result.score.total
    filled = _CIRCUMFERENCE * total / 100
    yield '<header class="top">'
    yield (
        f'<svg class="ring {_class(total)}" viewBox="0 0 132 132" role="img" '
        f'aria-label="score {total:.1f} of 100"><circle class="back" cx="66" cy="66" r="56"/>'
        f'<circle class="{_class(total)}" cx="66" cy="66" r="56" transform="rotate(-90 66 66)" '
        f'stroke-dasharray="{filled:.1f} {_CIRCUMFERENCE:.1f}"/>'
        f'<text x="66" y="72" font-size="30">{total:.1f}</text>'
        f'<text x="66" y="94" font-size="14">{report.grade}</text></svg>'
    )
    yield f"<div><h1>{title}</h1>"
    pages = ", ".join(f"{count:,} {kind}" for kind, count in sorted(result.coverage.pages.items()))
    moment = escape(result.audited_at[:16].replace("T", " "))
    yield f'<div class="soft">{moment} UTC · {pages}</div>'
    yield '<ul class="counts">'
    for severity in Severity:
        count = result.issues.get(severity, 0)
        yield f'<li class="{severity}"><b>{count:,}</b>{severity}</li>'
    yield "</ul>"
    yield from _notes(report)
    yield "</div></header>\n"


def _notes(report: ReportContent) -> Iterator[str]:
    notes = [*report.not_checked(), *report.changes()]
    if notes:
        yield '<ul class="notes soft">'
        yield from (f"<li>{escape(note)}</li>" for note in notes)
        yield "</ul>"


def _categories(report: ReportContent) -> Iterator[str]:
    yield '<section><h2>Categories</h2><div class="bars">'
    for category, score in report.result.score.categories.items():
        if score is None:
            yield (
                f'<div class="bar soft"><span>{_named(category)}</span>'
                '<span>not applicable</span><span class="number">–</span></div>'  # noqa: RUF001 - a dash, not a minus
            )
            continue
        yield (
            f'<div class="bar"><span>{_named(category)}</span>'
            f'<span class="track {_class(score)}"><span class="fill" '
            f'style="display:block;width:{score:.1f}%"></span></span>'
            f'<span class="number">{score:.1f}</span></div>'
        )
    yield "</div></section>\n"


def _changes(comparison: RunComparison) -> Iterator[str]:
    """Yield a list of the issues of each kind of change."""
    lists = {
        "new": ("New", comparison.new),
        "fixed": ("Fixed", comparison.fixed),
        "not_seen": ("On pages not visited this time", comparison.not_seen),
        "unchecked": ("Not checked this time", comparison.unchecked),
    }
    if not any(keys for _, keys in lists.values()):
        return
    yield "<section><h2>Since the last run</h2>\n"
    for state, (title, keys) in lists.items():
        if not keys:
            continue
        yield f'<details class="change" id="{state}"><summary>{title}: {len(keys):,}</summary>'
        yield _header(_CHANGE_COLUMNS, "")
        for name, url in keys[:MAX_CHANGED]:
            check = by_id().get(name)
            yield (
                f'<tr><td>{escape(check.title if check else name)} <code class="soft">'
                f"{escape(name)}</code></td>"
                f'<td class="url">{_link(url)}</td></tr>\n'
            )
        if len(keys) > MAX_CHANGED:
            rest = len(keys) - MAX_CHANGED
            yield f'<tr><td colspan="2" class="soft">and {rest:,} more</td></tr>'
        yield "</tbody></table></details>\n"
    yield "</section>\n"


def _issues(report: ReportContent) -> Iterator[str]:
    yield '<section><h2>Issues <span class="soft" id="shown"></span></h2>'
    if not report.issues:
        yield "<p>None.</p></section>\n"
        yield '<div hidden><input id="text"><select id="severity"></select>'
        yield '<select id="category"></select></div>'
        return
    yield '<div class="filters"><input id="text" type="search" placeholder="Find in issues" '
    yield 'aria-label="Find in issues">'
    severities = [each for each in Severity if any(i.check.severity is each for i in report.issues)]
    categories = [each for each in Category if any(i.check.category is each for i in report.issues)]
    yield _select("severity", "All severities", severities)
    yield _select("category", "All categories", categories)
    if report.comparison:
        yield '<label><input id="fresh" type="checkbox"> new only</label>'
    yield "</div>\n"
    for issue in report.issues:
        yield from _issue(report, issue)
    yield "</section>\n"


def _select(name: str, everything: str, values: Iterable[Severity | Category]) -> str:
    options = "".join(f'<option value="{value}">{_named(value)}</option>' for value in values)
    return (
        f'<select id="{name}" aria-label="{name}">'
        f'<option value="">{everything}</option>{options}</select>'
    )


def _issue(report: ReportContent, issue: Issue) -> Iterator[str]:
    check = issue.check
    fresh = any(key[0] == check.id for key in report.new)
    many = "1 page" if issue.pages == 1 else f"{issue.pages:,} pages"
    where = "site" if check.scope is CheckScope.SITE else many
    yield (
        f'<details class="issue" data-severity="{check.severity}" '
        f'data-category="{check.category}" data-fresh="{int(fresh)}"><summary>'
        f'<span class="tag {check.severity}">{check.severity}</span>'
        f'<span class="title">{escape(check.title)}{_fresh(fresh)}</span>'
        f'<span class="soft wide">{_named(check.category)}</span>'
        f'<span class="right wide">{where}</span>'
        f'<span class="right wide soft">+{issue.tally.points:.2f} points</span></summary>'
        f'<div class="inside"><p>{escape(check.advice)} {_link(check.source, "Why")} '
        f'<code class="soft">{check.id}</code></p>'
    )
    yield _header(_ISSUE_COLUMNS, "")
    for number, finding in enumerate(report.findings.of(check.id)):
        if number == MAX_PAGES:
            rest = issue.pages - MAX_PAGES
            yield f'<tr><td colspan="4" class="soft">and {rest:,} more: see CSV or JSON</td></tr>'
            break
        yield from _rows(report, finding)
    yield "</tbody></table></div></details>\n"


def _rows(report: ReportContent, finding: Finding) -> Iterator[str]:
    shown = finding.evidence[:MAX_EVIDENCE]
    fresh = _fresh(report.state(finding.key) == "new")
    for number, evidence in enumerate(shown):
        page = f"{_link(finding.url)}{fresh}" if number == 0 else ""
        yield f'<tr><td class="url">{page}</td>{_cells(evidence)}</tr>'
    if finding.count > len(shown):
        more = finding.count - len(shown)
        yield f'<tr><td></td><td colspan="3" class="soft">and {more:,} more on this page</td></tr>'


def _cells(evidence: Evidence) -> str:
    value = escape(evidence.value)
    if evidence.url and evidence.url != evidence.value:
        value = f"{value}<br>{_link(evidence.url)}" if value else _link(evidence.url)
    elif evidence.url:
        value = _link(evidence.url)
    return (
        f"<td><code>{escape(evidence.where)}</code></td><td>{value}</td>"
        f"<td>{escape(evidence.threshold)}</td>"
    )


def _pages(pages: tuple[PageResult, ...]) -> Iterator[str]:
    yield "<section><h2>Pages</h2>"
    if len(pages) > MAX_LISTED:
        yield f"<p>The {MAX_LISTED:,} worst of {len(pages):,}: the JSON report has all.</p>"
    yield '<div class="scroll">'
    yield _header(_PAGE_COLUMNS, "right")
    worst = sorted(pages, key=lambda page: (page.score is None, page.score or 0.0, page.url))
    for page in worst[:MAX_LISTED]:
        issues = " ".join(
            f'<span class="{severity}">{page.issues[severity]} {severity}</span>'
            for severity in Severity
            if page.issues.get(severity)
        )
        score = "" if page.score is None else f"{page.score:.1f}"
        name = _class(page.score) if page.score is not None else "soft"
        words = f"{page.words:,}" if page.words else ""
        yield (
            f'<tr><td class="url">{_link(page.url)}<br><span class="soft">{escape(page.title)}'
            f'</span></td><td class="right">{page.status or page.kind}</td>'
            f'<td class="right {name}">{score}</td><td class="right">{issues}</td>'
            f'<td class="right">{words}</td>'
            f'<td class="right">{"" if page.clicks is None else page.clicks}</td></tr>\n'
        )
    yield "</tbody></table></div></section>\n"


def _foot(report: ReportContent) -> Iterator[str]:
    result = report.result
    is_rendered = any(page.lab is not None for page in result.pages)
    scripts = "" if is_rendered else " Scripts of the site were not run."
    yield (
        f'<p class="soft">{PRODUCT} · catalogue {escape(result.catalogue_version)}, formula '
        f"{escape(result.formula_version)} · points are the gain of the score if all "
        f"pages of an issue are fixed.{scripts}</p>"
    )


def _header(columns: tuple[str, ...], rest: str) -> str:
    cells = "".join(
        f'<th class="{rest if number else ""}">{name}</th>' for number, name in enumerate(columns)
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>"


def _fresh(is_new: bool) -> str:
    return '<span class="new">new</span>' if is_new else ""


def _link(url: str, text: str | None = None) -> str:
    """Return the complete URL; only web URLs become links."""
    shown = escape(text or url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{shown}</a>'


def _named(value: str) -> str:
    return _NAMES.get(value) or escape(value.replace("_", " ").capitalize())


def _class(score: float) -> str:
    return "good" if score >= GOOD else "fair" if score >= FAIR else "bad"
