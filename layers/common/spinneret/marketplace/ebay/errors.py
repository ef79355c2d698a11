"""Meanings of eBay's error ids, in our words.

The table has a row for every id that the descriptions of these APIs name: Inventory, Account,
Media, Fulfillment, Taxonomy, Message and Compliance. A test checks that. Other ids are described by
eBay's own message. The first column is the class of the error: see ErrorClass.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from spinneret.kernel.errors import MarketplaceRefused, MarketplaceUnsettled
from spinneret.marketplace.calls.models import MarketAnswer
from spinneret.marketplace.ebay.answers import ErrorDetail, Errors, UpdatedPart
from spinneret.marketplace.refusals import ErrorClass, Meaning, Problem, answer_error

_POLICIES: Final = "choose the business policy in eBay's account settings, then try again"
_WAIT: Final = "try again later"
_ASK: Final = "check the order on eBay"
_SYNC: Final = "sync the product"
_OURS: Final = "report it to the operator: the request is built by this application"
_EBAY: Final = "change it on eBay's pages: this application doesn't set it"
_NONE: Final = "nothing: the listing is published without it"
_REGULATORY: Final = "complete the regulatory details on eBay's pages"

# class | field | cause | fix | ids, ranges with a hyphen
_TABLE: Final = f"""
refused|account|eBay warns about the account|look at the seller account on eBay|20200
refused|account|the account may not use this programme here|{_EBAY}|20201
refused|request|the request is malformed|{_OURS}|20400 20402 25802 25804 25604 32600 33100
refused|policy|a field of the policy is missing|{_POLICIES}|20401
refused|policy|a field of the policy is wrong|{_POLICIES}|20403 20406 20411-20414 20416
refused|policy|there is no such policy|{_POLICIES}|20404 25035
refused|policy|the payment method isn't accepted|{_POLICIES}|20405
refused|policy|sales tax isn't kept for this marketplace|{_POLICIES}|20407
refused|account|the seller isn't registered for payments|finish the registration|20408
refused|policy|the policy can't be the default|{_POLICIES}|20409 21409 22409
refused|marketplace_id|the marketplace is missing or unknown|set one that we sell on|20415
refused|marketplace_id|the marketplace isn't supported|set one that we sell on|21400 50114 50117
refused|policy|there are too many custom policies|delete one on eBay|20417
refused|policy|the name of the policy is taken|choose another name|20418
fault|marketplace|eBay has a fault of its own|{_WAIT}|20500 20501 25001 25504
fault|marketplace|eBay has a fault of its own|{_WAIT}|30500 33000 34900 35001 35002
fault|marketplace|eBay's media service has a fault of its own|{_WAIT}|190000
refused|account|the programme isn't known|join it in eBay's account settings|50116
refused|product|eBay refuses it without saying which field|read its message|25002 25019 25502
refused|product|eBay refuses it without saying which field|read its message|25503 25709
refused|price|the price isn't accepted|set a price within the category's bounds|25003
refused|quantity|the quantity isn't accepted|set a quantity of 1 or more|25004 25759 25760
refused|category_id|the category isn't accepted|choose a leaf category|25005
refused|listing_options|an option of the listing isn't accepted|{_EBAY}|25006
refused|policy|the shipping policy isn't accepted|{_POLICIES}|25007
refused|policy|the payment policy isn't accepted|{_POLICIES}|25008
refused|policy|the return policy isn't accepted|{_POLICIES}|25009
refused|tax|the tax isn't accepted|{_EBAY}|25011
refused|location|the location isn't accepted|set an enabled inventory location|25012 25901 25906
refused|attributes|an attribute isn't accepted|see the category's aspects|25013 25022 25601
refused|images|the images aren't accepted|use https images of 500 pixels or more|25014 25501
refused|images|the address of an image isn't accepted|use a public https address|25015 25086
refused|product|a field isn't accepted|read which one in eBay's message|25016 25032 25800
refused|description|the text isn't accepted|shorten it and take out active content|25017
refused|account|the account may not do this yet|look at the seller account on eBay|25018
refused|package|size or weight isn't accepted|{_EBAY}|25020 25715
refused|condition|the condition doesn't go with the category|choose one that the category has|25021
refused|compatibility|the compatible vehicles aren't accepted|{_EBAY}|25023 25739-25742
refused|best_offer|best offer isn't accepted|{_EBAY}|25024
read_back|sku|another change of this item is under way|{_WAIT}|25025
refused|account|the selling limit is reached|ask eBay to raise it, or end listings|25026
refused|attributes|a field doesn't apply and was left out|{_NONE}|25028 25030
refused|attributes|the category asks for a missing field|add it to the attributes|25029
refused|attributes|a number is out of its bounds|set it within the bounds in eBay's message|25031
refused|policy|a policy is named twice|name each policy once|25033
refused|policy|there are too many policies|name fewer policies|25034 25089-25094
refused|policy|a policy is of another type|{_POLICIES}|25036
refused|policy|the eco fee of the item is left out|{_NONE}|25037
refused|listing|it can't be revised: bids, offers or too near its end|wait for its end|25038-25040
refused|condition|refurbished items ask for fast handling|shorten the handling time|25041
refused|condition|refurbished items ask for free shipping|offer it in the shipping policy|25042
refused|condition|refurbished items ask for returns|change the return policy|25043-25046
refused|condition|this may not be listed as refurbished|choose another condition|25047-25049
refused|title|a word isn't allowed for refurbished items|take it out|25050 25051
refused|images|refurbished items ask for more images|add images|25052
refused|regulatory|an id isn't known|use ids of eBay's metadata|25076
refused|regulatory|an id is given twice|name each id once|25077
refused|regulatory|the hazard statements are wrong or incomplete|{_REGULATORY}|25078 25081
refused|regulatory|the repair score is out of its bounds|{_REGULATORY}|25079
refused|regulatory|a text is too long|shorten it|25080
refused|regulatory|the energy label or its information sheet is missing|add both|25083 25084
refused|regulatory|an email address is wrong|correct it|25088
refused|regulatory|the region isn't allowed|choose one that eBay's message names|25095
refused|listing|the listing is on hold for a breach of policy|revise it as eBay asks|25096
refused|listing|the listing is on hold, and can't be revised|look into eBay's messages|25097 25098
refused|regulatory|a document isn't known|upload it first|25104
refused|regulatory|there are too many documents|name fewer documents|25106
refused|regulatory|a document isn't in the right state|wait until it is accepted|25107
refused|regulatory|product safety is wrong or incomplete|{_REGULATORY}|25108 25109
refused|regulatory|the manufacturer is incomplete|add company, address and contact|25110 25111 25118
refused|regulatory|the responsible person is incomplete|add company, address, contact|25112-25114
refused|regulatory|the responsible person is incomplete|add company, address, contact|25116 25119
refused|regulatory|neither manufacturer nor responsible person is in the EU|name one who is|25115
refused|product|the category takes its facts from eBay's catalogue|choose its product|25120-25121
refused|regulatory|the address of a contact page is wrong|correct it|25122
refused|policy|parts need returns of 30 days at the seller's cost|change the return policy|25123
refused|policy|parts need returns of 30 days at the seller's cost|change the return policy|25124
refused|condition|the seller may not grade the condition|leave the grade out|25125
refused|attributes|grading aspects are going to be left out|use the grading conditions|25126
refused|attributes|the category takes no values of one's own here|choose a listed value|25127 25128
refused|listing_options|options that don't apply were left out|{_NONE}|25401
refused|listing|a warning of eBay's, such as: published already|read its message|25402
read_back|sku|the SKU isn't known|publish the product first|25701 25702
refused|sku|the SKU isn't known|publish the product first|25905
refused|sku|the SKU belongs to another group of variations|take it out of that group on eBay|25703
refused|sku|the SKU is listed by itself already|end that listing first|25704
refused|group|the group of variations isn't known|{_EBAY}|25705
refused|request|the page that was asked for isn't there|{_OURS}|25706 31000 31100
refused|sku|a SKU has 1 to 50 letters and digits|change the SKU|25707 25708
read_back|request|what was asked for isn't there|{_SYNC}|25710
refused|location|what was asked for isn't there|set an inventory location|25805
read_back|offer|the offer isn't there, or is of another marketplace|{_SYNC}|25713 25725
refused|listing|the listing can't be taken over|{_EBAY}|25718
refused|group|the group of variations isn't published|{_EBAY}|25726
refused|request|too many items in one request|{_OURS}|25727 25730
refused|sku|an item is named twice|{_OURS}|25728 25734
refused|offer|one offer for a SKU, marketplace and format|{_SYNC}|25729
refused|offer|an offer is named twice|{_OURS}|25731
refused|group|items of a group are published together|publish the group on eBay's pages|25732
refused|sku|an item lacks its SKU or language|{_OURS}|25733
refused|offer|SKU, marketplace or format is wrong|{_SYNC}|25735
refused|start|the start is wrong or past|set a time in the future|25752 25753
refused|offer|the offers aren't of one group|{_EBAY}|25754
refused|auction|the auction lacks a field or has one too many|{_EBAY}|25755-25758 25761-25764
refused|policy|the id of a policy isn't a number|{_POLICIES}|25766 25767
refused|location|a field of the location is missing|complete it in eBay's account settings|25801
refused|location|the location is there already|choose another key|25803
refused|location|a fulfilment location can't be deleted|disable it instead|25806
refused|location|a location isn't known|set an inventory location|25900
refused|location|a location is named twice|name each location once|25902
refused|listing|the listing isn't known, or is another seller's|{_SYNC}|25904
refused|orders|the filter isn't accepted|{_OURS}|30700 30800
refused|orders|a date of the filter is wrong|{_OURS}|30810-30850:10
refused|orders|too many orders in one request|{_OURS}|30900
refused|order_id|the order isn't known|{_ASK}|32100 34901 34913
refused|order_id|the shipment isn't known|{_ASK}|32110
refused|line_item|the item of the order isn't known|{_ASK}|32200 33007 34910-34912 34914
refused|line_item|the item is named twice|{_ASK}|32210
refused|tracking|number or carrier isn't accepted|check both|32300
refused|account|the account is suspended|look into eBay's messages|32400
refused|shipped_at|the date of shipment isn't accepted|{_ASK}|32500
refused|orders|the fields that were asked for aren't known|{_OURS}|32800
refused|dispute|the dispute or its evidence isn't known|{_ASK}|33001-33003 33008-33010 33102
refused|dispute|its state doesn't allow this|{_ASK}|33004 33011 33101
refused|dispute|a file of evidence isn't accepted|use a JPEG or PNG of at most 1.5 MB|33005
refused|dispute|a file of evidence isn't accepted|use a JPEG or PNG of at most 1.5 MB|33006
refused|dispute|a file of evidence isn't accepted|use a JPEG or PNG of at most 1.5 MB|33103-33107
refused|tracking|the order has its most tracking numbers|{_ASK}|34100
refused|line_item|these items can't be shipped as one|ship them one by one|34200 34300
refused|tracking|the shipment is there already|{_ASK}|34500
refused|refund|a field of the refund is missing|complete it on eBay|34902 34903 34905 34906 34908
refused|refund|the amount isn't accepted|refund at most what was paid|34907 34909 34915 34924
refused|refund|the order can't be refunded in its state|{_ASK}|34916-34918 34920 34922 34923 34929
refused|connection|the seller didn't give leave for this|connect again|34919 190013
refused|refund|the comment is too long|use at most 1000 characters|34921
refused|refund|no means of payment worked|{_ASK}|34925-34928 34930
refused|video|the video isn't known|upload it on eBay's pages|190001
refused|video|a fact of the video is missing or wrong|{_EBAY}|190002-190012 190014-190017
refused|document|a fact of the document is missing or wrong|{_REGULATORY}|190050
refused|document|a fact of the document is missing or wrong|{_REGULATORY}|190051 190055-190058
refused|document|the address of the document isn't secure|use a public https address|190060
refused|document|the document isn't known|upload it again|190052 190301 190302 190308
refused|document|the document can't be downloaded or its kind isn't accepted|use a PDF|190059
refused|document|the document can't be downloaded or its kind isn't accepted|use a PDF|190061-190063
read_back|images|the image isn't there any more|upload it again|190200
refused|images|the image is too large|use at most 12 MB|190201
refused|images|the image has too many pixels|use fewer than 15,000 a side|190202
refused|images|the kind of image isn't accepted|use JPEG, PNG, GIF, TIFF, AVIF or WEBP|190203
refused|images|eBay can't download the image|use a public https address|190204
refused|document|the document's parent isn't named or known|{_ASK}|190300 190303-190307
refused|document|the document's parent accepts no further documents|{_ASK}|190311 190312
refused|document|the file isn't accepted|use a PDF or an image of at most 5 MB|190309
refused|document|the file isn't accepted|use a PDF or an image of at most 5 MB|190310 190313-190315
fault|marketplace|eBay has a fault of its own|{_WAIT}|62000 335000 850001
refused|marketplace_id|the marketplace is missing or unknown|set one that we sell on|62002 62003
refused|marketplace_id|the marketplace is missing or unknown|set one that we sell on|850101
refused|marketplace_id|the marketplace is missing or unknown|set one that we sell on|850102 850114
refused|category_id|the category tree isn't known|set a marketplace that we sell on|62004 62103
refused|category_id|the category isn't accepted|choose a leaf category|62005 62006 62008 62009
refused|title|there are no words to find a category by|set a title|62007
refused|compatibility|the compatible vehicles or their property are wrong|{_EBAY}|62100-62102 62104
refused|compliance|the compliance type is missing, unknown or one of several|{_OURS}|850109-850111
refused|listing|the listing isn't known|{_SYNC}|850112 850113
refused|compliance|the violation can't be suppressed|mend the violation|850120-850122
refused|conversation_id|the conversation isn't known|read it from eBay's messages|355007 355018
refused|conversation_id|what narrows the conversations isn't accepted|{_OURS}|355001-355006
refused|conversation_id|what narrows the conversations isn't accepted|{_OURS}|355017 355019
refused|request|the page that was asked for isn't there|{_OURS}|355008 355009
refused|message|a picture of the message isn't accepted|send the text alone|355010-355012 355014
refused|message|the text is too long|shorten it|355013
refused|message|the message is empty|write a text|355015
refused|message|what the message refers to isn't known|read it from eBay's messages|355016
refused|message|what the message refers to isn't known|read it from eBay's messages|355020-355022
"""


def _read(table: str) -> Mapping[str, Meaning]:
    found: dict[str, Meaning] = {}
    for line in table.strip().splitlines():
        name, field, cause, fix, ids = line.split("|")
        meaning = Meaning(field=field, cause=cause, fix=fix, error_class=ErrorClass(name))
        for part in ids.split():
            bounds, _, step = part.partition(":")
            first, _, last = bounds.partition("-")
            span = range(int(first), int(last or first) + 1, int(step or 1))
            found.update({str(number): meaning for number in span})
    return found


MEANINGS: Final[Mapping[str, Meaning]] = _read(_TABLE)


def problems_of(answer: MarketAnswer) -> list[Problem]:
    """Return the errors of a response; one for its status if it names none."""
    return _problems(answer.read_error(Errors), answer.status)


def names_errors(answer: MarketAnswer) -> bool:
    """Return whether the response names an error: without one, it may be an intermediary's."""
    said = answer.read_error(Errors)
    return said is not None and bool(said["errors"])


def refusal(answer: MarketAnswer) -> MarketplaceRefused | MarketplaceUnsettled:
    """Build the exception for a response that isn't a success."""
    return answer_error("ebay", answer.status, problems_of(answer))


def part_refusal(parts: Sequence[UpdatedPart]) -> MarketplaceRefused | MarketplaceUnsettled:
    """Build the exception for the failed parts of a bulk response (207)."""
    problems = [
        problem
        for part in parts
        for problem in _problems({"errors": part.get("errors", [])}, part["statusCode"])
    ]
    return answer_error("ebay", parts[0]["statusCode"], problems)


def parameter(answer: MarketAnswer, error_id: str, name: str) -> str | None:
    """Return a parameter of the response's error with this id, or None."""
    said = answer.read_error(Errors) or {"errors": []}
    for error in said["errors"]:
        if error.get("errorId") == error_id:
            for each in error.get("parameters", ()):
                if each.get("name") == name:
                    return each.get("value")
    return None


def _problems(said: Errors | None, status: int) -> list[Problem]:
    if said is None or not said["errors"]:
        meaning = Meaning(
            field="request", cause=f"eBay answers {status}", fix="try again later, then report it"
        )
        return [Problem(id=str(status), meaning=meaning, said="")]
    return [_problem(each) for each in said["errors"]]


def _problem(error: ErrorDetail) -> Problem:
    number = error.get("errorId", "")
    known = MEANINGS.get(number)
    other = Meaning(field="request", cause="eBay refuses it", fix="read its message")
    said = error.get("longMessage") or error.get("message") or ""
    return Problem(id=number, meaning=known or other, said=said)
