"""Render the notices of a status page as an Atom feed (RFC 4287): one entry for each update."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from spinneret.kernel.clock import to_iso
from spinneret.monitoring.notices.models import Notice
from spinneret.monitoring.status_page.models import StatusPage
from spinneret.monitoring.status_page.rules import xml_text

CONTENT_TYPE: Final = "application/atom+xml; charset=utf-8"
_ATOM: Final = "http://www.w3.org/2005/Atom"


def atom_feed(page: StatusPage, notices: Sequence[Notice]) -> str:
    """Render the feed; links are relative to its own address."""
    updated = max([page.updated_at, *(each.updated_at for each in notices)])
    feed = ET.Element("feed", {"xmlns": _ATOM})
    _head(feed, f"page {page.tenant} {page.slug}", page.title, updated)
    _text(ET.SubElement(feed, "author"), "name", page.title)
    ET.SubElement(feed, "link", {"rel": "self", "href": "feed.xml"})
    ET.SubElement(
        feed, "link", {"rel": "alternate", "type": "text/html", "href": f"../{page.slug}"}
    )
    entries = [
        (update.at, number, notice)
        for notice in notices
        for number, update in enumerate(notice.updates)
    ]
    for _, number, notice in sorted(entries, key=lambda row: (row[0], row[1]), reverse=True):
        _entry(feed, page, notice, number)
    text = ET.tostring(feed, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _entry(feed: ET.Element, page: StatusPage, notice: Notice, number: int) -> None:
    update = notice.updates[number]
    entry = ET.SubElement(feed, "entry")
    words = update.status.replace("_", " ")
    _head(entry, f"notice {notice.id} {number}", f"{notice.title}: {words}", update.at)
    ET.SubElement(entry, "link", {"rel": "alternate", "href": f"../{page.slug}"})
    ET.SubElement(entry, "category", {"term": notice.kind})
    _text(entry, "content", update.text).set("type", "text")


def _head(parent: ET.Element, name: str, title: str, updated: datetime) -> None:
    _text(parent, "id", uuid5(NAMESPACE_URL, f"spinneret {name}").urn)
    _text(parent, "title", title)
    _text(parent, "updated", to_iso(updated))


def _text(parent: ET.Element, tag: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, tag)
    element.text = xml_text(text)
    return element
