"""Secrets that are recognised wherever they stand, by the form that their issuer gave them.

A form is a literal beginning and a pattern for the rest. One search finds all beginnings, and the
boundary in front of them makes it linear: a run of characters is entered once.
Sources: the issuers' documentation of their token formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from spinneret.redaction.spans import MARK, Span

_ID: Final = r"[A-Za-z0-9_\-]"
_JWT_TAIL: Final = rf"{_ID}*+(?:\.{_ID}*+){{0,4}}"

_FORMS: Final[tuple[tuple[str, str], ...]] = (
    # literals, pattern of the rest
    ("AKIA ASIA", r"[A-Z0-9]{12,}"),
    ("ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("LTAI", r"[A-Za-z0-9]{12,}"),
    ("ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{16,}"),
    ("github_pat_", r"[A-Za-z0-9_]{16,}"),
    (
        "glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-",
        rf"{_ID}{{12,}}(?:\.{_ID}+)*",
    ),
    ("GR1348941", rf"{_ID}{{12,}}"),
    ("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-", r"[A-Za-z0-9\-%]{8,}"),
    ("xoxe.xoxp- xoxe.xoxb-", r"[A-Za-z0-9\-]{8,}"),
    ("sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{8,}"),
    ("whsec_", r"[A-Za-z0-9+/_\-]{16,}={0,2}"),
    ("AIza", rf"{_ID}{{28,}}"),
    ("ya29.", r"[A-Za-z0-9_\-.]{16,}"),
    ("GOCSPX-", rf"{_ID}{{16,}}"),
    ("1//0", rf"{_ID}{{24,}}"),
    ("eyJ", rf"(?<![_\-]eyJ){_ID}{{6,}}+(?:\.{_ID}{{4,}}+){{1,4}}\.?"),  # RFC 7519
    ("eyJhbGci eyJ0eXAi eyJraWQi eyJ4NXQi eyJjdHki eyJlbmMi eyJqa3Ui", _JWT_TAIL),
    ("npm_", r"[A-Za-z0-9]{20,}"),
    ("pypi-", rf"{_ID}{{16,}}"),
    ("SG.", rf"{_ID}{{8,128}}\.{_ID}{{8,}}"),
    ("SK", r"[0-9a-fA-F]{32}(?![0-9A-Za-z])"),
    ("sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin- sk-lf-", rf"{_ID}{{8,}}"),
    ("sk-", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,}"),
    ("hf_ api_org_", r"[A-Za-z0-9]{16,}"),
    ("spn_ spt_", rf"{_ID}{{16,}}"),  # ours: tenancy.service
    ("AGE-SECRET-KEY-1", r"[0-9A-Z]{16,}"),
    ("shpat_ shpss_ shpca_ shppa_", r"[a-fA-F0-9]{16,}"),
    ("sq0atp- sq0csp- sq0idp-", rf"{_ID}{{16,}}"),
    ("EAAA EAAC", rf"{_ID}{{40,}}"),
    ("dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{32,}"),
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._\-]{16,}"),
    ("dapi", r"[a-f0-9]{32}(?:-\d)?"),
    ("key-", r"[0-9a-f]{32}(?![0-9a-f])"),
    ("PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    ("NRAK-", r"[A-Z0-9]{20,}"),
    ("glsa_ glc_", r"[A-Za-z0-9+/_]{20,}={0,2}"),
    ("hvs. hvb. hvr.", rf"{_ID}{{20,}}"),
    ("ATATT3 ATCTT3 ATBB", r"[A-Za-z0-9_\-=]{20,}"),
    ("lin_api_ lin_oauth_ ntn_", r"[A-Za-z0-9]{20,}"),
    ("secret_", r"[A-Za-z0-9]{40,}"),
    ("figd_", rf"{_ID}{{20,}}"),
    ("pul-", r"[a-f0-9]{40}"),
    ("rubygems_", r"[a-f0-9]{40,}"),
    ("dckr_pat_ dckr_oat_ sb_secret_", rf"{_ID}{{16,}}"),
    ("sbp_", r"[a-f0-9]{32,}"),
    ("r8_ gsk_ pplx- xai- nfp_", r"[A-Za-z0-9]{30,}"),
    ("fo1_ CFPAT-", rf"{_ID}{{30,}}"),
    ("FlyV1 fm", r"\d[A-Za-z0-9+/=,_\-]{20,}"),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.\-]{20,}"),
    ("nvapi-", rf"{_ID}{{20,}}"),
    ("tskey-", rf"{_ID}{{16,}}"),
    ("rpa_", r"[A-Za-z0-9]{30,}"),
    ("phc_ phx_ phs_", r"[A-Za-z0-9]{30,}"),
    ("sgp_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("vercel_blob_rw_", r"[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}"),
    (
        "pat-na1- pat-na2- pat-eu1- pat-ap1-",
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    ),
    ("xkeysib- xsmtpsib-", r"[0-9a-f]{60,}-[A-Za-z0-9]{8,}"),
    ("sntrys_ sntryu_", r"[A-Za-z0-9+/=_\-]{20,}"),
    ("dt0c dt0s", r"\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{20,}"),
    ("amzn.mws.", r"[0-9a-f\-]{20,}"),
    ("amzn1.oa2-cs.v1.", r"[0-9a-f]{20,}"),
    ("Atza| Atzr| Atza%7C Atzr%7C", r"[A-Za-z0-9_\-+/=|%]{16,}"),
    ("v^1.1#", r"[^\s\"'<>&,;\\]{8,}"),  # eBay
    ("mfa.", rf"{_ID}{{60,}}"),
    ("sk.eyJ", rf"{_ID}{{16,512}}\.{_ID}{{8,}}"),
    ("access-sandbox- access-production- access-development-", r"[0-9a-f\-]{36}"),
    # crypt(3) and its successors: guessing recovers what they hash
    ("$1$ $5$ $6$ $y$ $2a$ $2b$ $2x$ $2y$ $apr1$", r"[A-Za-z0-9./$=]{20,}"),
    ("$argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2", r"[A-Za-z0-9./$=,+\-]{20,}"),
)

# Forms without a literal beginning, or whose beginning stays: the group is replaced.
_FREE: Final = tuple(
    (anchor, re.compile(pattern))
    for anchor, pattern in (
        ("-us", r"(?<![0-9A-Za-z])([0-9a-f]{32}-us\d{1,2})(?!\w)"),  # Mailchimp
        (".atlasv1.", rf"(?<![A-Za-z0-9])([A-Za-z0-9]{{14}}\.atlasv1\.{_ID}{{40,}})"),
        ("Q~", r"(?<![A-Za-z0-9_~.\-])([A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34})"),  # Entra
        ("AC", r"(?<![0-9A-Za-z])AC[0-9a-f]{32}(?::|%3A)([0-9a-f]{32})(?![0-9a-f])"),  # Twilio
        (":AA", rf"(?<![0-9])(\d{{8,10}}:AA{_ID}{{30,}})"),  # Telegram
        ("/bot", rf"/bot(\d{{6,12}}:{_ID}{{20,}})"),
        (".", rf"([MNO](?<![A-Za-z0-9].){_ID}{{23,27}}\.{_ID}{{6}}\.{_ID}{{27,40}})"),  # Discord
        ("hooks.slack.com/", r"hooks\.slack\.com/\w{4,12}/([\w/\-]+)"),
        ("/webhooks/", r"/webhooks/\d{6,24}/([\w\-]{16,})"),  # Discord
        ("/webhookb2/", r"/webhookb2/([\w@/\-]{16,})"),  # Teams
    )
)

# 40 characters of base64 are no secret as such; beside an AWS key id they are.
AWS_KEY_ID: Final = re.compile(r"(?:AKIA|ASIA)(?<![A-Za-z0-9].{4})[A-Z0-9]{12,}")
AWS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9+/=])(?![0-9a-f]{40})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
)
_NEAR: Final = 512  # characters between an AWS key id and its secret


_REST: Final = {
    literal: rest
    for literals, rest in _FORMS
    for literal in (literals.split(" ") if literals != "FlyV1 fm" else [literals])
}
_BOUNDARY: Final = re.compile(r"(?<![A-Za-z0-9])|(?<=\\[nrt])")  # or behind an escaped line end


def formatted(text: str) -> Iterator[Span]:
    """Every token whose form betrays it."""
    beginnings, position = _beginnings(), 0
    done: dict[re.Pattern[str], int] = {}
    while (beginning := beginnings.search(text, position)) is not None:
        start = beginning.start()
        position = start + 1  # tokens of two issuers may overlap, those of one don't
        if _BOUNDARY.match(text, start):
            for form in _forms(beginning[0]):
                if start >= done.get(form, 0) and (match := form.match(text, start)):
                    yield Span(start, match.end(), MARK)
                    done[form] = match.end()
    for anchor, pattern in _FREE:
        if anchor in text:
            for match in pattern.finditer(text):
                yield Span(*match.span(1), MARK)
    if "AKIA" in text or "ASIA" in text:
        yield from _aws_secrets(text)


@cache
def _beginnings() -> re.Pattern[str]:
    """Finds the literals, but of `sk-` and `sk-ant-` only the former."""
    return re.compile(_tree(list(_REST)))


def _tree(words: list[str]) -> str:
    """A pattern that looks at each character once instead of at each word."""
    if "" in words:
        return ""
    branches = [
        re.escape(first) + _tree([word[1:] for word in words if word[0] == first])
        for first in sorted({word[0] for word in words})
    ]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


@cache
def _forms(beginning: str) -> tuple[re.Pattern[str], ...]:
    """Compiled on first use: all of them at once would cost a cold start some 20 ms."""
    return tuple(
        re.compile(re.escape(literal) + rest)
        for literal, rest in _REST.items()
        if literal.startswith(beginning)
    )


def _aws_secrets(text: str) -> Iterator[Span]:
    """Secrets within reach of a key id; both lists are walked once."""
    ids = [match.start() for match in AWS_KEY_ID.finditer(text)]
    nearest = 0
    for match in AWS_SECRET.finditer(text):
        while nearest + 1 < len(ids) and ids[nearest + 1] <= match.start():
            nearest += 1
        if any(abs(place - match.start()) <= _NEAR for place in ids[nearest : nearest + 2]):
            yield Span(*match.span(), MARK)
