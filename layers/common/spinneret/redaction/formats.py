"""Secrets that are recognised wherever they stand: tokens and keys in their issuers' formats.

A format is a literal beginning and a pattern for the rest. The boundary in front of it makes the
search linear: a run of characters is entered once.
Sources: the issuers' documentation of their tokens; RFC 7468, OpenSSH and RFC 9580 for armour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

from spinneret.redaction.spans import Form, Span, matches

_ID: Final = r"[A-Za-z0-9_\-]"
_GITLAB: Final = rf"{_ID}{{12,}}(?:\.{_ID}+)*"
_JWT_TAIL: Final = rf"{_ID}*+(?:\.{_ID}*+){{0,4}}"

_TOKENS: Final[tuple[tuple[str, str], ...]] = (
    # literals (a ~ is a blank), pattern of the rest
    ("AKIA ASIA", r"[A-Z0-9]{12,}"),  # AWS
    ("ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("LTAI", r"[A-Za-z0-9]{12,}"),  # Alibaba
    ("ghp_ gho_ ghu_ ghs_ ghr_ hf_ api_org_", r"[A-Za-z0-9]{16,}"),  # GitHub, Hugging Face
    ("github_pat_", r"[A-Za-z0-9_]{16,}"),
    ("glpat- gloas- gldt- glrt- glcbt- glptt-", _GITLAB),
    ("glft- glimt- glagent- glsoat- glffct-", _GITLAB),
    ("GR1348941", rf"{_ID}{{12,}}"),
    ("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-", r"[A-Za-z0-9\-%]{8,}"),  # Slack
    ("xoxe.xoxp- xoxe.xoxb-", r"[A-Za-z0-9\-]{8,}"),
    ("sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{8,}"),  # Stripe
    ("whsec_", r"[A-Za-z0-9+/_\-]{16,}={0,2}"),  # Standard Webhooks
    ("spn_ spt_", rf"{_ID}{{16,}}"),  # ours: tenancy.service
    ("AIza", rf"{_ID}{{28,}}"),  # Google
    ("ya29.", r"[A-Za-z0-9_\-.]{16,}"),
    ("1//0", rf"{_ID}{{24,}}"),
    ("eyJ", rf"(?<![_\-]eyJ){_ID}{{6,}}+(?:\.{_ID}{{4,}}+){{1,4}}\.?"),  # RFC 7519
    ("eyJhbGci eyJ0eXAi eyJraWQi eyJ4NXQi eyJjdHki eyJlbmMi eyJqa3Ui", _JWT_TAIL),
    ("SG.", rf"{_ID}{{8,128}}\.{_ID}{{8,}}"),  # SendGrid
    ("SK", r"[0-9a-fA-F]{32}(?![0-9A-Za-z])"),  # Twilio
    ("sk-ant- sk-proj- sk-or- sk-svcacct- sk-admin- sk-lf-", rf"{_ID}{{8,}}"),
    ("sk-", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,}"),
    (
        "GOCSPX- pypi- sq0atp- sq0csp- sq0idp- dckr_pat_ dckr_oat_ sb_secret_ tskey-",
        rf"{_ID}{{16,}}",
    ),
    ("hvs. hvb. hvr. figd_ nvapi-", rf"{_ID}{{20,}}"),
    ("fo1_ CFPAT-", rf"{_ID}{{30,}}"),
    ("EAAA EAAC", rf"{_ID}{{40,}}"),  # Square, Meta
    ("mfa.", rf"{_ID}{{60,}}"),  # Discord
    ("npm_ lin_api_ lin_oauth_ ntn_", r"[A-Za-z0-9]{20,}"),
    ("r8_ gsk_ pplx- xai- nfp_ rpa_ phc_ phx_ phs_", r"[A-Za-z0-9]{30,}"),
    ("secret_", r"[A-Za-z0-9]{40,}"),
    ("AGE-SECRET-KEY-1", r"[0-9A-Z]{16,}"),
    ("NRAK-", r"[A-Z0-9]{20,}"),
    ("shpat_ shpss_ shpca_ shppa_", r"[a-fA-F0-9]{16,}"),
    ("dop_v1_ doo_v1_ dor_v1_ sbp_", r"[a-f0-9]{32,}"),
    ("pul- rubygems_", r"[a-f0-9]{40,}"),
    ("dapi", r"[a-f0-9]{32}(?:-\d)?"),  # Databricks
    ("key-", r"[0-9a-f]{32}(?![0-9a-f])"),  # Mailgun
    ("PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
    ("xkeysib- xsmtpsib-", r"[0-9a-f]{60,}-[A-Za-z0-9]{8,}"),
    ("amzn.mws. amzn1.oa2-cs.v1.", r"[0-9a-f\-]{20,}"),
    ("Atza| Atzr| Atza%7C Atzr%7C", r"[A-Za-z0-9_\-+/=|%]{16,}"),
    ("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._\-]{16,}"),  # Doppler
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.\-]{20,}"),
    ("glsa_ glc_", r"[A-Za-z0-9+/_]{20,}={0,2}"),  # Grafana
    ("sntrys_ sntryu_", r"[A-Za-z0-9+/=_\-]{20,}"),
    ("ATATT3 ATCTT3 ATBB", r"[A-Za-z0-9_\-=]{20,}"),  # Atlassian
    ("FlyV1~fm", r"\d[A-Za-z0-9+/=,_\-]{20,}"),
    ("sgp_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("vercel_blob_rw_", r"[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}"),
    (
        "pat-na1- pat-na2- pat-eu1- pat-ap1-",
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    ),
    ("access-sandbox- access-production- access-development-", r"[0-9a-f\-]{36}"),  # Plaid
    ("dt0c dt0s", r"\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{20,}"),
    ("v^1.1#", r"[^\s\"'<>&,;\\]{8,}"),  # eBay
    ("sk.eyJ", rf"{_ID}{{16,512}}\.{_ID}{{8,}}"),
    # crypt(3) and its successors: guessing recovers what they hash
    ("$1$ $5$ $6$ $y$ $2a$ $2b$ $2x$ $2y$ $apr1$", r"[A-Za-z0-9./$=]{20,}"),
    ("$argon2i$ $argon2d$ $argon2id$ $scrypt$ $pbkdf2", r"[A-Za-z0-9./$=,+\-]{20,}"),
)

# Tokens without a literal beginning, or whose beginning stays.
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
        # PuTTY
        ("Private-Lines", r"Private-Lines: \d+\s+(?P<secret>(?:[A-Za-z0-9+/=]{1,80}\s+)+)"),
    )
)

# 40 characters of base64 are no secret as such; beside an AWS key id they are.
AWS_KEY_ID: Final = re.compile(r"(?:AKIA|ASIA)(?<![A-Za-z0-9].{4})[A-Z0-9]{12,}")
AWS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9+/=])(?![0-9a-f]{40})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
)
_NEAR: Final = 512  # characters between an AWS key id and its secret

_BOUNDARY: Final = r"(?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))"  # or behind an escaped line end
_ARMOUR: Final = re.compile(r"-{4,5}\s?(?P<sign>BEGIN|END) (?P<what>[A-Z0-9 ]{0,60})-{4,5}")
_BREAK: Final = r"(?:\s|\\{1,15}[nrt]|%0[AaDd]|<br ?/?>)"
_CUT_OFF: Final = re.compile(  # lines of base64 and of headers as far as they go
    rf"(?:{_BREAK}{{0,8}}(?:[A-Za-z\-]{{1,30}}: [^\r\n\\\"']{{0,200}}(?=[\r\n\\])"
    rf"|[A-Za-z0-9+/=]{{16,}}+|(?<=[nr\n])[A-Za-z0-9+/=]{{1,64}}+(?=[\s\\\"']|$)))+"
)
# The same in front of an end whose beginning is cut off; read backwards, so that it is linear.
_BREAK_BACK: Final = r"(?:\s|[nrt]\\{1,15}|[AaDd]0%|>/?[ ]?rb<)"
_BASE64_BACK: Final = r"(?:[A-Za-z0-9+/=](?!\\|0%)|/\\{1,15})"
_HEADLESS: Final = re.compile(
    rf"{_BREAK_BACK}{{0,8}}+{_BASE64_BACK}++(?:{_BREAK_BACK}{{1,8}}+{_BASE64_BACK}{{40,}}+)*+"
    rf"(?:{_BREAK_BACK}{{1,8}}+(?=[^\d\s]*\d){_BASE64_BACK}{{1,80}}+)?"
)
_LONGEST: Final = 20_000  # characters of a key
_LEAST: Final = 16  # of what is left of one


def tokens(text: str) -> Iterator[Span]:
    """Every token whose format betrays it."""
    for match in _token().finditer(text):
        yield Span(*match.span())
    yield from matches(_FREE, text)
    if "AKIA" in text or "ASIA" in text:
        for match in AWS_SECRET.finditer(text):
            if AWS_KEY_ID.search(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
                yield Span(*match.span())


@cache
def _token() -> re.Pattern[str]:
    """All formats, by their first characters. Compiled on first use: it takes some 10 ms."""
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
    """What stands between the lines that begin and end a private key, also if one is cut off."""
    lines = [*_ARMOUR.finditer(text)] if "PRIVATE KEY" in text else []
    for before, line, behind in zip([None, *lines], lines, [*lines[1:], None], strict=False):
        start, end = line.span()
        if "PRIVATE KEY" not in line["what"]:
            continue
        if line["sign"] == "BEGIN":
            cut_off = _CUT_OFF.match(text, end)
            if behind is not None and behind["sign"] == "END":
                yield Span(end, behind.start())
            elif cut_off is not None:
                yield Span(end, cut_off.end())
        elif before is None or before["sign"] == "END":
            first = max(before.end() if before else 0, start - _LONGEST)
            headless = _HEADLESS.match(text[first:start][::-1])
            if headless is not None and headless.end() >= _LEAST:
                yield Span(start - headless.end(), start)
