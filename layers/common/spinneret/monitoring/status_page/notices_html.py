"""Render notices for the status page."""

from collections.abc import Sequence
from datetime import datetime
from html import escape

from spinneret.monitoring.notices.models import Notice, NoticeUpdate
from spinneret.monitoring.status_page import limits


def notices_html(notices: Sequence[Notice]) -> tuple[str, str]:
    """Render the notices that last, and the section of the ended ones."""
    active = "".join(_notice(each) for each in notices if not each.is_over)
    ended = "".join(_notice(each) for each in notices if each.is_over)
    if ended:
        ended = f"<h2>Last {limits.STATUS_PAGE_DAYS} days</h2>{ended}"
    return active, ended


def _notice(notice: Notice) -> str:
    times = ""
    if notice.starts_at is not None and notice.ends_at is not None:
        planned = f"{notice.starts_at:%Y-%m-%d %H:%M} to {notice.ends_at:%Y-%m-%d %H:%M} UTC"
        times = f'<div class="low">{planned}</div>'
    updates = "".join(map(_update, reversed(notice.updates)))
    over = " over" if notice.is_over else ""
    return (
        f'<section class="note{over}"><div class="top">'
        f'<span class="name">{escape(notice.title)}</span>'
        f'<span class="is none">{notice.kind}</span></div>{times}{updates}</section>'
    )


def _update(update: NoticeUpdate) -> str:
    words = update.status.replace("_", " ").capitalize()
    return f"<p><strong>{words}</strong> {escape(update.text)} {_time(update.at)}</p>"


def _time(at: datetime) -> str:
    return f'<time datetime="{at:%Y-%m-%dT%H:%MZ}">{at:%Y-%m-%d %H:%M} UTC</time>'
