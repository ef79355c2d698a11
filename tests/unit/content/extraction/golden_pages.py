"""Small pages of several types and the text of their main content; we wrote all of them."""

from dataclasses import dataclass
from typing import Final

_MENU: Final = (
    '<header><a href="/">Harbour Gazette</a><nav><ul><li><a href="/tides">Tides</a></li>'
    '<li><a href="/boats">Boats</a></li><li><a href="/about">About us</a></li></ul></nav></header>'
)
_FOOT: Final = (
    "<footer><p>Copyright of the harbour office. All rights reserved.</p><ul><li>"
    '<a href="/privacy">Privacy</a></li><li><a href="/terms">Terms of use</a></li></ul></footer>'
)


@dataclass(frozen=True)
class GoldenPage:
    """A page whose extracted text has all words of `wanted` and none of the texts in `beside`."""

    name: str
    html: str
    wanted: str
    beside: tuple[str, ...]


def _page(title: str, body: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title>{head}</head>'
        f"<body>{_MENU}{body}{_FOOT}</body></html>"
    )


_PARAGRAPHS: Final = (
    (
        "The old harbour wall was raised by a metre last winter, after storms had twice carried "
        "shingle over its crest and into the lower street, where three cellars flooded."
    ),
    (
        "Masons from two villages set more than four thousand granite blocks by hand, because no "
        "crane could stand on the narrow quay without closing the fish market for months."
    ),
    (
        "Between the blocks they left gaps as wide as a finger. Water that leaps over the crest "
        "runs "
        "back through them instead of standing behind the wall and pushing it seaward."
    ),
    (
        "The harbour master measured the first spring tides against the new stones. The highest "
        "wave "
        "broke a hand below the top, and the lower street stayed dry all night."
    ),
    (
        "What remains is the price: the parish will pay for the wall for eleven years, and some "
        "owners of boats say that a shorter wall of concrete would have cost half as much."
    ),
)

ARTICLE: Final = GoldenPage(
    "article",
    _page(
        "A wall against the sea",
        '<main><article><h1>A wall against the sea</h1><p class="byline">By Ines Harrow</p>'
        + "".join(f"<p>{each}</p>" for each in _PARAGRAPHS)
        + "<figure><img src=w.jpg alt=wall><figcaption>The crest at low water</figcaption></figure>"
        '</article><aside class="related"><h2>Read next</h2><ul>'
        '<li><a href="/1">Ten lighthouses that were moved inland and how they fared</a></li>'
        '<li><a href="/2">Why herring came back to the northern bays this autumn</a></li>'
        '<li><a href="/3">A ferry without a captain crosses the sound for the first time</a></li>'
        '</ul></aside><section class="comments"><h2>Comments</h2><p>Tom: Nice pictures, thanks!'
        "</p><p>Ada: My cellar was one of the three.</p></section></main>",
        '<meta property="og:type" content="article">',
    ),
    " ".join(_PARAGRAPHS),
    ("lighthouses that were moved inland", "Nice pictures", "Terms of use"),
)

_POSTS: Final = (
    (
        "My dinghy takes on a cupful of water every hour, and I can't find where it comes in. The "
        "hull is cedar, painted twice, and stood ashore from October until the middle of May."
    ),
    (
        "Cedar shrinks ashore. Sink her to the gunwales at the mooring for two days and let the "
        "planks swell. If a seam still weeps after that, rake it out and caulk it again with "
        "cotton."
    ),
    (
        "Check the centreboard case before you rake any seam. In most boats of that class the "
        "water "
        "comes in through the bolts at the aft end, which nobody can see under the thwart."
    ),
    (
        "It was the bolts. I drew both, bedded them in fresh compound with new washers, and she "
        "has "
        "been dry for a week now. Thanks to both of you, I would never have looked there."
    ),
)

FORUM: Final = GoldenPage(
    "forum",
    _page(
        "Dinghy leaks a little - Boat Talk",
        '<div id="thread"><h1>Dinghy leaks a little</h1>'
        + "".join(
            f'<div class="post"><div class="author-card"><a href="/u/{n}">sailor{n}</a> Posts: '
            f'{n * 37} Joined: 2019</div><div class="post-body"><p>{each}</p></div>'
            f'<div class="buttons"><a href="#r{n}">Reply</a> <a href="#q{n}">Quote</a></div></div>'
            for n, each in enumerate(_POSTS, start=1)
        )
        + '</div><div class="sidebar"><h3>Popular threads</h3><ul><li><a href="/t/8">Which anchor '
        'holds in mud?</a></li><li><a href="/t/9">Show us your galley</a></li></ul></div>',
        '<script type="application/ld+json">{"@type": "DiscussionForumPosting", "headline": '
        '"Dinghy leaks a little"}</script>',
    ),
    " ".join(_POSTS),
    ("Which anchor holds", "Popular threads", "Terms of use"),
)

ANSWERS: Final = GoldenPage(
    "answers",
    _page(
        "Where does the water come in? - Ask the yard",
        f'<div class="question"><h1>Where does the water come in?</h1><p>{_POSTS[0]}</p></div>'
        '<div id="comments" class="comments-area">'
        + "".join(
            f'<div class="comment" id="comment-{n}"><span class="comment-author">sailor{n}</span>'
            f'<div class="comment-content"><p>{each}</p></div></div>'
            for n, each in enumerate(_POSTS[1:])
        )
        + '</div><div class="sidebar"><h3>Hot questions</h3><ul><li><a href="/q/8">Which anchor '
        "holds in mud?</a></li></ul></div>",
        '<script type="application/ld+json">{"@type": "QAPage", "name": "Where does the water '
        'come in?"}</script>',
    ),
    " ".join(("Where does the water come in?", *_POSTS)),
    ("Which anchor holds", "Terms of use"),
)

_DESCRIPTION: Final = (
    (
        "This lantern burns for forty hours on one filling and stays lit in a gale, because its "
        "double chimney lets air in from above only."
    ),
    (
        "The tank is of spun brass and holds six hundred millilitres of paraffin; a float shows "
        "through the glass how much is left."
    ),
    (
        "A folding hook hangs it from a boom, and the broad foot keeps it upright on a table that "
        "heels to thirty degrees."
    ),
)
_FACTS: Final = (
    ("Height", "31 centimetres"),
    ("Weight", "1.4 kilograms, empty"),
    ("Burner", "flat wick of 14 lines"),
    ("Finish", "lacquered, or bare on request"),
)

PRODUCT: Final = GoldenPage(
    "product",
    _page(
        "Gale lantern in brass - Chandlery",
        '<div class="product"><h1>Gale lantern in brass</h1><p class="price">148.00</p>'
        '<form><button>Add to basket</button></form><div class="description">'
        + "".join(f"<p>{each}</p>" for each in _DESCRIPTION)
        + "</div><h2>Details</h2><table>"
        + "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in _FACTS)
        + '</table></div><div class="recommendations"><h2>Others bought</h2><ul>'
        + "".join(
            f'<li><a href="/p/{n}">{each}</a> <span>{n}9.00</span></li>'
            for n, each in enumerate(("Wick trimmer", "Paraffin funnel", "Storm matches"), start=1)
        )
        + "</ul></div>",
        '<script type="application/ld+json">{"@type": "Product", "name": "Gale lantern in brass"}'
        "</script>",
    ),
    " ".join((*_DESCRIPTION, *(f"{name} {value}" for name, value in _FACTS))),
    ("Paraffin funnel", "Terms of use"),
)

_ITEMS: Final = (
    ("Cedar rowing skiff", "3,900", "Fourteen feet, two pairs of oars, built in the yard itself"),
    ("Clinker day sailer", "7,250", "Gaff rig with tan sails, trailer and winter cover included"),
    ("Folding tender", "640", "Fits behind the seats of a car, carries two adults and a dog"),
    ("Steel workboat", "18,400", "Shallow draught, flat deck, diesel of sixty horsepower"),
    ("Junk-rigged cruiser", "22,000", "Two berths, a stove, and one line to reef from the cabin"),
    ("Canvas kayak", "880", "Ash frame, mended twice, paddles like new"),
    ("Punt for fowlers", "1,150", "Eighteen feet of larch, low enough for reeds"),
    ("Whaleboat replica", "9,700", "Five rowers and a steersman, raced for six seasons"),
)

COLLECTION: Final = GoldenPage(
    "collection",
    _page(
        "Boats for sale",
        '<main><h1>Boats for sale</h1><ul class="grid">'
        + "".join(
            f'<li class="card"><a href="/boats/{n}"><img src="{n}.jpg" alt=""><h3>{name}</h3></a>'
            f"<p>{text}</p><span>{price} pounds</span></li>"
            for n, (name, price, text) in enumerate(_ITEMS)
        )
        + "</ul></main>",
    ),
    " ".join(f"{name} {text} {price} pounds" for name, price, text in _ITEMS),
    ("Terms of use", "About us"),
)

_STEPS: Final = (
    (
        "Before you begin",
        (
            "Read the tide table for the day and note the hour of low water. The gauge must be dry "
            "when you open it, so plan for at least forty minutes on either side of that hour."
        ),
    ),
    (
        "Open the gauge",
        (
            "Turn the four brass screws by a quarter and lift the lid straight up. The float hangs "
            "from a thin steel wire; never let it drop, since the wire then jumps off its drum."
        ),
    ),
    (
        "Set the zero",
        (
            "Hold the float at the painted mark and press the reset lever until the pen rests on "
            "the "
            "lowest line of the drum. Release the lever slowly and check that the pen stays there."
        ),
    ),
    (
        "Change the paper",
        (
            "Slide the old sheet off the drum, write the date on its back, and clip the new one "
            "with "
            "its seam under the bar. A seam that faces the pen tears after a day or two."
        ),
    ),
)

DOCUMENTATION: Final = GoldenPage(
    "documentation",
    _page(
        "Servicing the tide gauge - Manual",
        '<div class="toc"><ul>'
        + "".join(f'<li><a href="#s{n}">{name}</a></li>' for n, (name, _) in enumerate(_STEPS))
        + '</ul></div><div class="document"><h1>Servicing the tide gauge</h1>'
        + "".join(
            f'<section id="s{n}"><h2>{name}</h2><p>{text}</p><pre><code>gauge --step {n}</code>'
            "</pre></section>"
            for n, (name, text) in enumerate(_STEPS)
        )
        + '</div><div class="prev-next"><a href="/m/1">Previous page</a> <a href="/m/3">Next page'
        "</a></div>",
    ),
    " ".join(f"{name} {text} gauge --step {n}" for n, (name, text) in enumerate(_STEPS)),
    ("Terms of use", "About us"),
)

_OFFERS: Final = (
    ("Rigging", "We splice wire and rope of all sizes and tune masts up to sixty feet."),
    ("Sails", "Our loft cuts, mends and washes sails, and stores them dry through the winter."),
    ("Engines", "Two fitters service diesels afloat, on any weekday between Easter and November."),
    ("Storage", "Ninety places ashore, each with water and power, behind a locked gate."),
    ("Surveys", "A member of the surveyors' institute writes reports that insurers accept."),
)

SERVICE: Final = GoldenPage(
    "service",
    _page(
        "Northquay boatyard: rigging, sails, engines",
        '<section class="hero"><h1>Everything for a boat in one yard</h1><p>Family run since 1931, '
        "with nine people who sail themselves.</p></section>"
        + "".join(
            f'<section class="feature"><div><h2>{name}</h2></div><div><p>{text}</p></div></section>'
            for name, text in _OFFERS
        )
        + '<section class="quote"><blockquote>They found in an hour what three yards had missed.'
        "</blockquote><p>A customer from the islands</p></section>",
    ),
    "Everything for a boat in one yard Family run since 1931, with nine people who sail themselves."
    + " ".join(f" {name} {text}" for name, text in _OFFERS)
    + " They found in an hour what three yards had missed. A customer from the islands",
    ("Terms of use", "About us"),
)

_STORIES: Final = (
    ("Ferry timetable changes on Monday", "Six crossings a day instead of four until October."),
    ("Seals counted from the air", "Rangers photographed 412 animals on the outer banks."),
    ("New lifeboat named after a baker", "Her legacy paid for two thirds of the vessel."),
    ("Harbour dues to rise by a tenth", "Owners of visiting yachts will pay most of it."),
    ("Kelp farm wins a prize", "Judges praised ropes that rot within one season."),
    ("Diver finds a bell of 1790", "It comes from a ship that carried tea and porcelain."),
)

LISTING: Final = GoldenPage(
    "listing",
    _page(
        "News - Harbour Gazette",
        '<div id="content"><h1>News</h1>'
        + "".join(
            f'<article class="teaser"><h2><a href="/n/{n}">{name}</a></h2><p>{text}</p></article>'
            for n, (name, text) in enumerate(_STORIES)
        )
        + '</div><div class="pagination"><a href="?p=2">Older news</a></div>',
    ),
    " ".join(f"{name} {text}" for name, text in _STORIES),
    ("Terms of use", "About us"),
)

_TERMS: Final = tuple(
    f"{name}: {text}"
    for name, text in (
        ("Aback", "with the wind on the wrong side of a sail"),
        ("Bight", "a loop of rope, or a wide bay"),
        ("Chine", "an edge where side and bottom of a hull meet"),
        ("Davit", "a small crane over the side"),
        ("Ebb", "the falling tide"),
        ("Fid", "a wooden pin for opening strands"),
        ("Gunwale", "the upper edge of the side"),
        ("Halyard", "a rope that hoists a sail"),
        ("Inhaul", "a line that draws something in"),
        ("Jury rig", "a mast for the way home"),
        ("Kedge", "a light anchor to warp with"),
        ("Luff", "the leading edge of a sail"),
        ("Moor", "to make fast to something that holds"),
        ("Neap", "a tide of small range"),
        ("Oakum", "tarred fibre for seams"),
        ("Painter", "the rope at a dinghy's bow"),
        ("Quay", "a wall to lie at"),
        ("Reef", "to make a sail smaller"),
        ("Sheet", "a rope that trims a sail"),
        ("Thwart", "a seat across a boat"),
    )
)

GLOSSARY: Final = GoldenPage(
    "glossary",
    _page(
        "Words of the harbour",
        '<div class="page"><h1>Words of the harbour</h1><div class="entries">'
        + "".join(f'<div class="entry">{each}</div>' for each in _TERMS)
        + "</div></div>",
    ),
    " ".join(("Words of the harbour", *_TERMS)),
    ("Terms of use", "About us"),
)

_READERS: Final = "".join(
    f'<div class="comment"><p>Reader {n} of the lower street: I remember the storms of that winter '
    "well, and I should like to know who will look after the new stones when the masons have gone "
    "home.</p></div>"
    for n in range(8)
)

MISSED: Final = GoldenPage(
    "article that two engines miss",
    _page(
        "A wall against the sea",
        '<div class="page"><div class="intro"><p>Harbour news of the week, in brief.</p></div>'
        '<div class="newsletter">'
        + "".join(f"<p>{each}</p>" for each in (*_PARAGRAPHS, *(text for _, text in _STEPS)))
        + f'</div><div class="comments"><h2>Comments</h2>{_READERS}</div></div>',
        '<meta property="og:type" content="article">',
    ),
    " ".join((*_PARAGRAPHS, *(text for _, text in _STEPS))),
    ("of the lower street: I remember", "Terms of use"),
)

GOLDEN: Final = (
    ARTICLE,
    MISSED,
    FORUM,
    ANSWERS,
    PRODUCT,
    COLLECTION,
    DOCUMENTATION,
    SERVICE,
    LISTING,
    GLOSSARY,
)
