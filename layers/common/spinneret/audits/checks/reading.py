"""Read facts for checks: robots directives, dates, languages."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Final

from spinneret.audits.checks.models import Evidence
from spinneret.audits.facts.models import INDEXERS, HtmlFacts

NEAR_BITS: Final = 7
"""Maximum different bits of 64: a few other words in 400 change some six, other texts 32."""
_AUTHORITY: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
_PORT: Final = re.compile(r":\d*$")
_ABSOLUTE: Final = re.compile(r"\s*https?://[^/?#\s]", re.IGNORECASE)
MAX_OTHERS: Final = 10
"""Maximum number of similar pages named as evidence."""
LISTABLE: Final = (
    *("index.noindex", "index.blocked", "canonical.conflict", "canonical.invalid"),
    *("canonical.root", "canonical.hreflang", "canonical.to_redirect", "canonical.to_error"),
    *("canonical.to_noindex", "canonical.to_noncanonical"),
)
"""Checks that a page must pass to be listed under its own URL."""


def robots_evidence(html: HtmlFacts, *directives: str) -> list[Evidence]:
    """Return the directives given to indexers; a name that ends with a colon is a prefix."""
    return [
        Evidence(
            where=f"meta[name={robots.agent}]"
            if robots.source == "meta"
            else f"header: X-Robots-Tag ({robots.agent})",
            value=directive,
        )
        for robots in html.robots
        if robots.agent in INDEXERS
        for directive in robots.directives
        if directive in directives or directive.partition(":")[0] + ":" in directives
    ]


def is_noindex(html: HtmlFacts) -> bool:
    """Return whether any indexer is asked not to list the page."""
    return bool(robots_evidence(html, "noindex", "none"))


def moment(text: str) -> datetime | None:
    """Parse a date in ISO 8601 or mail format (RFC 5322), in UTC by default; None if invalid."""
    parsed: datetime | None = None
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            parsed = parsedate_to_datetime(text)
        except (ValueError, OverflowError):  # the latter for a time zone out of any range
            return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def host_of(url: str) -> str:
    """Return the host in lower case, without the port; empty if there is none."""
    authority = _AUTHORITY.match(url)
    if authority is None:
        return ""
    host = authority[1].rpartition("@")[2]
    return (host if host.endswith("]") else _PORT.sub("", host)).strip("[]").lower()


def is_same(url: str, other: str) -> bool:
    """Return whether two URLs are equal, ignoring a slash at the end."""
    return without_slash(url) == without_slash(other)


def without_slash(url: str) -> str:
    """Return a URL without one slash at its end: both forms are taken for the same page."""
    return url.removesuffix("/")


def first_text(values: Iterable[str]) -> str:
    """Return the first text that isn't empty; an empty one without any."""
    return next(filter(None, values), "")


def is_absolute(href: str) -> bool:
    """Return whether an address as written is a whole web URL."""
    return _ABSOLUTE.match(href) is not None


def listed(where: str, values: Iterable[str], threshold: str = "") -> list[Evidence]:
    """Return one evidence for each value."""
    return [Evidence(where, value, threshold) for value in values]


def are_near(one: str, other: str) -> bool:
    """Return whether two signatures of texts nearly agree; False if one is empty."""
    return bool(one and other) and (int(one, 16) ^ int(other, 16)).bit_count() <= NEAR_BITS


def display_width(text: str) -> int:
    """Return the width in columns: Chinese, Japanese and Korean characters take two.

    Search results cut texts by their width. Combining characters take none.
    """
    return sum(
        2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
        if not unicodedata.combining(each)
    )


@cache
def is_language(tag: str) -> bool:
    """Return whether a tag follows BCP 47 with a registered language, script and region."""
    parts = tag.strip().replace("_", "-").lower().split("-")
    if not parts[0] or "_" in tag:
        return False
    language = parts[0]
    if language not in LANGUAGES and (
        len(language) != 3 or not language.isalpha() or language in _SHORTENED
    ):
        return False
    rest = parts[1:]
    if rest and len(rest[0]) == 3 and rest[0].isalpha():
        rest = rest[1:]  # an extended language
    if rest and len(rest[0]) == 4 and rest[0].isalpha():
        rest = rest[1:]  # a script
    if rest and len(rest[0]) == 2:
        if rest[0].upper() not in REGIONS:
            return False
        rest = rest[1:]
    elif rest and len(rest[0]) == 3 and rest[0].isdigit():
        rest = rest[1:]
    return all((2 <= len(part) <= 8 and part.isalnum()) or part in ("x", "u", "t") for part in rest)


_LANGUAGES_TEXT: Final = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
ie ig ii ik in io is it iu iw ja ji jv kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl
ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk
tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES: Final = frozenset(_LANGUAGES_TEXT.split())
"""Two-letter languages of ISO 639-1, including withdrawn ones, which browsers still accept."""

_SHORTENED_TEXT: Final = """
aar abk afr aka alb amh ara arg arm asm ava ave aym aze bak bam baq bel ben bis bod bos bre bul bur
cat ces cha che chi chu chv cor cos cre cym cze dan deu div dut dzo ell eng epo est eus ewe fao fas
fij fin fra fre fry ful geo ger gla gle glg glv gre grn guj hat hau hbs heb her hin hmo hrv hun hye
ibo ice ido iii iku ile ina ind ipk isl ita jav jpn kal kan kas kat kau kaz khm kik kin kir kom kon
kor kua kur lao lat lav lim lin lit ltz lub lug mac mah mal mao mar may mkd mlg mlt mon mri msa mya
nau nav nbl nde ndo nep nld nno nob nor nya oci oji ori orm oss pan per pli pol por pus que roh ron
rum run rus sag san sin slk slo slv sme smo sna snd som sot spa sqi srd srp ssw sun swa swe tah tam
tat tel tgk tgl tha tib tir ton tsn tso tuk tur twi uig ukr urd uzb ven vie vol wel wln wol xho yid
yor zha zho zul
"""
_SHORTENED: Final = frozenset(_SHORTENED_TEXT.split())
"""Three-letter codes of ISO 639-2 whose language has two letters, which BCP 47 requires then."""

_REGIONS_TEXT: Final = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT
BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH
ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT
HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS
LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI
NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG
SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG
UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
"""
REGIONS: Final = frozenset(_REGIONS_TEXT.split())
"""ISO 3166-1 regions, and XK. Excludes `UK`, a common mistake."""
