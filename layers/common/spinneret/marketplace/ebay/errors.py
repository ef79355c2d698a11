"""Meanings of eBay's error ids, in our words.

The table has a row for every id that the descriptions of these APIs name: Inventory, Account,
Media, Fulfillment, Taxonomy, Message and Compliance. A test checks that. Other ids are described by
eBay's own message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spinneret.kernel.errors import MarketplaceRefused
from spinneret.marketplace.calls.models import MarketAnswer
from spinneret.marketplace.refusals import Meaning, Problem, refusal_error

_POLICIES: Final = "choose the business policy in eBay's account settings, then try again"
_WAIT: Final = "try again later"
_ASK: Final = "check the order on eBay"

# field | cause | fix or "" | ids, ranges with a hyphen
_TABLE: Final = f"""
account|eBay warns about the account||20200
account|the account may not use this programme here||20201
request|the request is malformed||20400 20402 25802 25804 25604 32600 33100
policy|a field of the policy is missing||20401
policy|a field of the policy is wrong|{_POLICIES}|20403 20406 20411-20414 20416
policy|there is no such policy|{_POLICIES}|20404 25035
policy|the payment method isn't accepted|{_POLICIES}|20405
policy|sales tax isn't kept for this marketplace||20407
account|no payment programme: the seller isn't registered there|finish the seller registration|20408
policy|the policy can't be the default|{_POLICIES}|20409 21409 22409
marketplace_id|the marketplace is missing or unknown|set one that we sell on|20415
marketplace_id|the marketplace isn't supported||21400 50114 50117
policy|there are too many custom policies|delete one on eBay|20417
policy|the name of the policy is taken||20418
marketplace|eBay has a fault of its own|{_WAIT}|20500 20501 25001 25504
marketplace|eBay has a fault of its own|{_WAIT}|30500 33000 34900 35001 35002
marketplace|eBay's media service has a fault of its own|{_WAIT}|190000
account|the programme isn't known||50116
product|eBay refuses it without saying which field|read its message|25002 25019 25502 25503 25709
price|the price isn't accepted|set a price within the category's bounds|25003
quantity|the quantity isn't accepted|set a quantity of 1 or more|25004 25759 25760
category_id|the category isn't accepted|choose a leaf category|25005
listing_options|an option of the listing isn't accepted||25006
policy|the shipping policy isn't accepted|{_POLICIES}|25007
policy|the payment policy isn't accepted|{_POLICIES}|25008
policy|the return policy isn't accepted|{_POLICIES}|25009
tax|the tax isn't accepted||25011
location|the location isn't accepted|set an enabled inventory location|25012 25901 25906
attributes|an attribute isn't accepted|see the category's aspects|25013 25022 25601
images|the images aren't accepted|use https images of 500 pixels or more|25014 25501
images|the address of an image isn't accepted|use a public https address|25015 25086
product|a field isn't accepted|read which one in eBay's message|25016 25032 25800
description|the text isn't accepted|shorten it and take out active content|25017
account|the account may not do this yet|look at the seller account on eBay|25018
package|size or weight isn't accepted||25020 25715
condition|the condition doesn't go with the category|choose one that the category has|25021
compatibility|the compatible vehicles aren't accepted||25023 25739-25742
best_offer|best offer isn't accepted||25024
sku|another change of this item is under way|{_WAIT}|25025
account|the selling limit is reached|ask eBay to raise it, or end listings|25026
attributes|a field doesn't apply and was left out||25028 25030
attributes|the category asks for a field that is missing|add it to the product's attributes|25029
attributes|a number is out of its bounds||25031
policy|a policy is named twice||25033
policy|there are too many policies||25034 25089-25094
policy|a policy is of another type|{_POLICIES}|25036
policy|the eco fee of the item is left out||25037
listing|it can't be revised: bids, offers or too near its end||25038-25040
condition|refurbished items ask for fast handling|shorten the handling time|25041
condition|refurbished items ask for free shipping|offer it in the shipping policy|25042
condition|refurbished items ask for returns|change the return policy|25043-25046
condition|the seller, category or brand may not be listed as refurbished||25047-25049
title|a word isn't allowed for refurbished items|take it out|25050 25051
images|refurbished items ask for more images|add images|25052
regulatory|an id isn't known|use ids of eBay's metadata|25076
regulatory|an id is given twice||25077
regulatory|the hazard statements are wrong or incomplete||25078 25081
regulatory|the repair score is out of its bounds||25079
regulatory|a text is too long||25080
regulatory|the energy label or its information sheet is missing|add both|25083 25084
regulatory|an email address is wrong||25088
regulatory|the region isn't allowed||25095
listing|the listing is on hold for a breach of policy|revise it as eBay asks|25096
listing|the listing is on hold, and can't be revised|look into eBay's messages|25097 25098
regulatory|a document isn't known|upload it first|25104
regulatory|there are too many documents||25106
regulatory|a document isn't in the right state|wait until it is accepted|25107
regulatory|product safety is wrong or incomplete||25108 25109
regulatory|the manufacturer is incomplete|add company, address and contact|25110 25111 25118
regulatory|the responsible person is incomplete|add company, address, contact|25112-25114
regulatory|the responsible person is incomplete|add company, address, contact|25116 25119
regulatory|neither manufacturer nor responsible person is in the EU|name one who is|25115
product|the category takes its facts from eBay's catalogue|choose the catalogue's product|25120
product|the category takes its facts from eBay's catalogue|choose the catalogue's product|25121
regulatory|the address of a contact page is wrong||25122
policy|parts need returns of 30 days at the seller's cost|change the return policy|25123 25124
condition|the seller may not grade the condition||25125
attributes|grading aspects are going to be left out||25126
attributes|the category takes no values of one's own here|choose a listed value|25127 25128
listing_options|options that don't apply were left out||25401
listing|a warning of eBay's, such as: published already||25402
sku|the SKU isn't known|publish the product first|25701 25702 25905
sku|the SKU belongs to another group of variations||25703
sku|the SKU is listed by itself already|end that listing first|25704
group|the group of variations isn't known||25705
request|the page that was asked for isn't there||25706 31000 31100
sku|a SKU has 1 to 50 letters and digits|change the SKU|25707 25708
request|what was asked for isn't there||25710 25805
offer|the offer isn't there, or is of another marketplace|sync the product|25713 25725
listing|the listing can't be taken over||25718
group|the group of variations isn't published||25726
request|too many items in one request||25727 25730
sku|an item is named twice||25728 25734
offer|one offer for a SKU, marketplace and format|sync the product|25729
offer|an offer is named twice||25731
group|items of a group are published together||25732
sku|an item lacks its SKU or language||25733
offer|SKU, marketplace or format is wrong||25735
start|the start is wrong or past||25752 25753
offer|the offers aren't of one group||25754
auction|the auction lacks a field or has one too many||25755-25758 25761-25764
policy|the id of a policy isn't a number||25766 25767
location|a field of the location is missing||25801
location|the location is there already||25803
location|a fulfilment location can't be deleted||25806
location|a location isn't known|set an inventory location|25900
location|a location is named twice||25902
listing|the listing isn't known, or is another seller's||25904
orders|the filter isn't accepted||30700 30800
orders|a date of the filter is wrong||30810-30850:10
orders|too many orders in one request||30900
order_id|the order isn't known|{_ASK}|32100 34901 34913
order_id|the shipment isn't known|{_ASK}|32110
line_item|the item of the order isn't known|{_ASK}|32200 33007 34910-34912 34914
line_item|the item is named twice||32210
tracking|number or carrier isn't accepted|check both|32300
account|the account is suspended|look into eBay's messages|32400
shipped_at|the date of shipment isn't accepted||32500
orders|the fields that were asked for aren't known||32800
dispute|the dispute or its evidence isn't known|{_ASK}|33001-33003 33008-33010 33102
dispute|its state doesn't allow this|{_ASK}|33004 33011 33101
dispute|a file of evidence isn't accepted|use a JPEG or PNG of at most 1.5 MB|33005
dispute|a file of evidence isn't accepted|use a JPEG or PNG of at most 1.5 MB|33006 33103-33107
tracking|the order has its most tracking numbers||34100
line_item|international and other items can't be shipped as one||34200 34300
tracking|the shipment is there already||34500
refund|a field of the refund is missing||34902 34903 34905 34906 34908
refund|the amount isn't accepted|refund at most what was paid|34907 34909 34915 34924
refund|the order can't be refunded in its state|{_ASK}|34916-34918 34920 34922 34923 34929
connection|the seller didn't give leave for this|connect again|34919 190013
refund|the comment is too long|use at most 1000 characters|34921
refund|no means of payment worked|{_ASK}|34925-34928 34930
video|the video isn't known||190001
video|a fact of the video is missing or wrong||190002-190012 190014-190017
document|a fact of the document is missing or wrong||190050 190051 190055-190058 190060
document|the document isn't known||190052 190301 190302 190308
document|the document can't be downloaded or its kind isn't accepted||190059 190061-190063
images|the image isn't there any more|upload it again|190200
images|the image is too large|use at most 12 MB|190201
images|the image has too many pixels|use fewer than 15,000 a side|190202
images|the kind of image isn't accepted|use JPEG, PNG, GIF, BMP, TIFF, AVIF, HEIC or WEBP|190203
images|eBay can't download the image|use a public https address|190204
document|what it belongs to is missing, unknown or in another state||190300 190303-190307
document|what it belongs to is missing, unknown or in another state||190311 190312
document|the file isn't accepted|use a PDF or an image of at most 5 MB|190309 190310 190313-190315
marketplace|eBay has a fault of its own|{_WAIT}|62000 335000 850001
marketplace_id|the marketplace is missing or unknown|set one that we sell on|62002 62003
marketplace_id|the marketplace is missing or unknown|set one that we sell on|850101 850102 850114
category_id|the category tree isn't known||62004 62103
category_id|the category isn't accepted|choose a leaf category|62005 62006 62008 62009
title|there are no words to find a category by|set a title|62007
compatibility|the category takes no compatible vehicles, or the property is wrong||62100-62102 62104
compliance|the compliance type is missing, unknown or one of several||850109-850111
listing|the listing isn't known|sync the product|850112 850113
compliance|the violation isn't there, or can't be suppressed||850120-850122
conversation_id|the conversation isn't known|read it from eBay's messages|355007 355018
conversation_id|what narrows the conversations isn't accepted||355001-355006 355017 355019
request|the page that was asked for isn't there||355008 355009
message|a picture of the message isn't accepted||355010-355012 355014
message|the text is too long|shorten it|355013
message|the message is empty|write a text|355015
message|what the message refers to isn't known||355016 355020-355022
"""


def _read(table: str) -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = {}
    for line in table.strip().splitlines():
        field, cause, fix, ids = line.split("|")
        meaning = Meaning(field=field, cause=cause, fix=fix or None)
        for part in ids.split():
            bounds, _, step = part.partition(":")
            first, _, last = bounds.partition("-")
            span = range(int(first), int(last or first) + 1, int(step or 1))
            found.update({str(number): meaning for number in span})
    return found


MEANINGS: Final[Mapping[str, Meaning]] = _read(_TABLE)


def problems_of(answer: MarketAnswer) -> list[Problem]:
    """Return the errors of a response; one for its status if it names none."""
    data = answer.data
    return _problems(data.get("errors") if isinstance(data, dict) else None, answer.status)


def refusal(answer: MarketAnswer) -> MarketplaceRefused:
    """Build the exception for a response that isn't a success."""
    return refusal_error("ebay", answer.status, problems_of(answer))


def part_refusal(parts: Sequence[Mapping[str, Any]]) -> MarketplaceRefused:
    """Build the exception for the failed parts of a bulk response (207)."""
    problems = [
        problem for part in parts for problem in _problems(part.get("errors"), part["statusCode"])
    ]
    return refusal_error("ebay", int(parts[0]["statusCode"]), problems)


def parameter(answer: MarketAnswer, error_id: str, name: str) -> str | None:
    """Return a parameter of the response's error with this id, or None."""
    data = answer.data
    for error in data.get("errors", ()) if isinstance(data, dict) else ():
        if str(error.get("errorId")) == error_id:
            for each in error.get("parameters", ()):
                if each.get("name") == name:
                    return str(each.get("value"))
    return None


def _problems(errors: Sequence[Mapping[str, Any]] | None, status: int) -> list[Problem]:
    if not errors:
        meaning = Meaning(field="request", cause=f"eBay answers {status}")
        return [Problem(id=str(status), meaning=meaning, said="")]
    return [_problem(each) for each in errors]


def _problem(error: Mapping[str, Any]) -> Problem:
    number = str(error.get("errorId", ""))
    said = str(error.get("longMessage") or error.get("message") or "")
    known = MEANINGS.get(number)
    return Problem(
        id=number, meaning=known or Meaning(field="request", cause="eBay refuses it"), said=said
    )
