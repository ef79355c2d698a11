"""Secrets recognised by their issuers' token and key formats, without any context.

A format is a literal beginning and a pattern for the rest. The boundary before it makes the search
linear: each run of characters is entered once. Sources: the issuers' documentation of their tokens;
RFC 7468, OpenSSH and RFC 9580 for armour.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

from spinneret.redaction.spans import Form, Span, matches

_ID: Final = r"[A-Za-z0-9_\-]"
_ALNUM: Final = r"[A-Za-z0-9]"
_BASE64: Final = r"[A-Za-z0-9+/=_.,\-]"
_HEX: Final = r"[0-9a-fA-F]"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_TOKENS: Final[tuple[tuple[str, str], ...]] = (
    # beginnings, pattern of the rest
    ("sk_live_ rk_live_ sk_test_ rk_test_", rf"{_ALNUM}{{8,}}"),  # Stripe
    ("AKIA ASIA LTAI NRAK-", rf"{_ALNUM}{{12,}}"),  # AWS, Alibaba, New Relic
    ("IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz AQoDYXdz", r"[A-Za-z0-9+/=%]{16,}"),  # AWS, sessions
    ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ hf_ api_org_", r"[A-Za-z0-9_]{16,}"),
    ("npm_ lin_api_ lin_oauth_ ntn_", rf"{_ALNUM}{{20,}}"),
    ("r8_ gsk_ pplx- xai- nfp_ rpa_ phc_ phx_ phs_", rf"{_ALNUM}{{30,}}"),
    ("secret_", rf"{_ALNUM}{{40,}}"),
    ("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp- xoxe.xox", r"[A-Za-z0-9\-%]{8,}"),
    ("sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin- sk-lf-", rf"{_ID}{{8,}}"),
    ("sk-", rf"(?=[A-Za-z]{{0,60}}[0-9]){_ALNUM}{{20,}}"),
    ("glpat- gloas- gldt- glrt- glcbt- glptt- glft- glimt-", rf"{_ID}{{12,}}(?:\.{_ID}+)*"),
    ("glagent- glsoat- glffct- GR1348941", rf"{_ID}{{12,}}(?:\.{_ID}+)*"),
    ("GOCSPX- pypi- sq0atp- sq0csp- sq0idp- dckr_pat_ dckr_oat_ sb_secret_", rf"{_ID}{{16,}}"),
    ("tskey- spn_ spt_", rf"{_ID}{{16,}}"),  # spn_ and spt_ are this product's own: access.keys
    ("hvs. hvb. hvr. figd_ nvapi- AIza 1//0 fo1_ CFPAT-", rf"{_ID}{{20,}}"),
    ("EAAA EAAC mfa.", rf"{_ID}{{40,}}"),  # Square, Meta, Discord
    ("eyJ", rf"(?<![_\-]eyJ){_ID}{{6,}}+(?:\.{_ID}{{4,}}+){{1,4}}\.?"),  # RFC 7519
    (
        "eyJhbGci eyJ0eXAi eyJraWQi eyJ4NXQi eyJjdHki eyJlbmMi eyJqa3Ui",
        rf"{_ID}*+(?:\.{_ID}*+){{0,4}}",
    ),
    ("SG. sk.eyJ vercel_blob_rw_", rf"{_ID}{{8,512}}[._]{_ID}{{8,}}"),  # SendGrid, Mapbox, Vercel
    ("ya29. dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", rf"{_BASE64}{{16,}}"),
    ("whsec_ Atza| Atzr| Atza%7C Atzr%7C", r"[A-Za-z0-9_\-+/=|%]{16,}"),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_ glsa_ glc_ sntrys_ sntryu_", rf"{_BASE64}{{20,}}"),
    ("ATATT3 ATCTT3 ATBB FlyV1~fm ABSK", rf"{_BASE64}{{20,}}"),
    ("SK key- dapi", rf"{_HEX}{{32}}(?:-\d)?(?![0-9A-Za-z])"),  # Twilio, Mailgun, Databricks
    ("shpat_ shpss_ shpca_ shppa_ dop_v1_ doo_v1_ dor_v1_ sbp_", rf"{_HEX}{{16,}}"),
    ("pul- rubygems_ amzn.mws. amzn1.oa2-cs.v1.", rf"(?:{_HEX}|-){{20,}}"),
    ("sgp_", rf"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}"),
    ("PMAK- xkeysib- xsmtpsib-", rf"{_HEX}{{24,}}-{_ALNUM}{{8,}}"),
    ("pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),  # HubSpot
    ("access-sandbox- access-production- access-development-", _UUID),  # Plaid
    ("AGE-SECRET-KEY-1 dt0c dt0s", r"[0-9A-Z.]{16,}"),
    ("v^1.1#", r"[^\s\"'<>&,;\\]{8,}"),  # eBay
    # crypt(3) and its successors: guessing can recover the hashed password
    ("$1$ $5$ $6$ $y$ $2a$ $2b$ $2x$ $2y$ $apr1$ $scrypt$ $pbkdf2", r"[A-Za-z0-9./$=,+\-]{20,}"),
    ("$argon2i$ $argon2d$ $argon2id$", r"[A-Za-z0-9./$=,+\-]{20,}"),
)

# Tokens without a literal beginning, or whose beginning is kept.
_FREE: Final = tuple(
    Form(literal, re.compile(pattern))
    for literal, pattern in (
        ("-us", r"(?<![0-9A-Za-z])(?P<secret>[0-9a-f]{32}-us\d{1,2})(?!\w)"),  # Mailchimp
        (".atlasv1.", rf"(?<![A-Za-z0-9])(?P<secret>[A-Za-z0-9]{{14}}\.atlasv1\.{_ID}{{40,}})"),
        ("Q~", r"(?<![\w~.\-])(?P<secret>[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34})"),  # Entra
        # Twilio, Telegram
        ("AC", r"(?<![0-9A-Za-z])AC[0-9a-f]{32}(?::|%3A)(?P<secret>[0-9a-f]{32})(?![0-9a-f])"),
        (":AA", rf"(?<![0-9])(?P<secret>\d{{8,10}}:AA{_ID}{{30,}})"),
        ("/bot", rf"/bot(?P<secret>\d{{6,12}}:{_ID}{{20,}})"),
        # Discord, Slack, Discord, Teams
        (".", rf"(?P<secret>[MNO](?<![A-Za-z0-9].){_ID}{{23,27}}\.{_ID}{{6}}\.{_ID}{{27,40}})"),
        (
            "hook",
            r"(?:hooks\.slack\.com/\w{4,12}|/webhooks/\d{6,24}|/webhookb2)/(?P<secret>[\w@/\-]{8,})",
        ),
        (
            "Private-Lines",
            r"Private-Lines: \d+\s+(?P<secret>(?:[A-Za-z0-9+/=]{1,80}\s+)+)",
        ),  # PuTTY
    )
)

# 40 characters of base64 are a secret only near an AWS key id.
AWS_KEY_ID: Final = re.compile(r"(?:AKIA|ASIA)(?<![A-Za-z0-9].{4})[A-Z0-9]{12,}")
AWS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9+/=])(?![0-9a-f]{40})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
)
_NEAR: Final = 512  # characters between an AWS key id and its secret

_BOUNDARY: Final = r"(?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))"  # or after an escaped line end
_ARMOUR: Final = re.compile(r"-{4,5}\s?(?P<sign>BEGIN|END) (?P<what>[A-Z0-9 ]{0,60})-{4,5}")
_BREAK: Final = r"(?:\s|\\{1,15}[nrt]|%0[AaDd]|<br ?/?>)"
_HEADER: Final = r"[A-Za-z\-]{1,30}: [^\r\n\\\"']{0,200}(?=[\r\n\\])"
_LINE: Final = r"[A-Za-z0-9+/=]{16,}+"
_LAST_LINE: Final = r"(?<=[nr\n])[A-Za-z0-9+/=]{1,64}+(?=[\s\\\"'\-]|$)"
_LINES: Final = rf"(?:{_BREAK}{{0,8}}+(?:{_HEADER}|{_LINE}|{_LAST_LINE}))"
_BODY: Final = re.compile(rf"{_LINES}+")  # greedy: also matches a truncated key
_HEADLESS: Final = re.compile(rf"{_LINE}{_LINES}*{_BREAK}{{0,8}}+")


def tokens(text: str) -> Iterator[Span]:
    """Yield every token that matches an issuer's format."""
    for match in _token().finditer(text):
        yield Span(*match.span())
    yield from matches(_FREE, text)
    if "AKIA" in text or "ASIA" in text:
        for match in AWS_SECRET.finditer(text):
            if AWS_KEY_ID.search(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
                yield Span(*match.span())


@cache
def _token() -> re.Pattern[str]:
    """Compile all formats, grouped by first character.

    Runs on first use, as it takes about 10 ms.
    """
    rests = {each.replace("~", " "): rest for words, rest in _TOKENS for each in words.split()}
    branches = []
    longest_first = sorted(rests, key=lambda word: (word[0], -len(word)))
    for first, group in groupby(longest_first, itemgetter(0)):
        words = list(group)
        seconds = re.escape("".join({word[1] for word in words}))
        formats = "|".join(re.escape(word[1:]) + rests[word] for word in words)
        branches.append(f"{re.escape(first)}(?=[{seconds}]){_BOUNDARY}(?:{formats})")
    return re.compile("|".join(branches))


def private_keys(text: str) -> Iterator[Span]:
    """Yield the bodies of private keys, even if their begin or end line is missing."""
    lines = [*_ARMOUR.finditer(text)] if "PRIVATE KEY" in text else []
    for before, line, behind in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        start, end = line.span()
        if "PRIVATE KEY" not in line["what"]:
            continue
        if line["sign"] == "BEGIN":
            body = _BODY.match(text, end)
            if behind is not None and behind["sign"] == "END":
                yield Span(end, behind.start())
            elif body is not None:
                yield Span(end, body.end())
        elif before is None or before["sign"] == "END":
            for body in _HEADLESS.finditer(text, before.end() if before else 0, start):
                if body.end() == start:
                    yield Span(*body.span())
