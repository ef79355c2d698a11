"""Questions with a known correct page, for the regression test of search.

A question counts as answered if its page is among the first three results.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answer is the page at `path`; its text contains `must_contain`.

    Runs of whitespace in the text are collapsed before the comparison.
    """

    query: str
    path: str
    must_contain: str


# Rare exact terms: a keyword search finds them, embeddings may miss them.
EXACT_TERMS: Final = (
    Question("GAGAGS fibroin motif", "/silk-proteins", "six-letter phrase GAGAGS"),
    Question("NT2RepCT construct", "/silk-proteins", "The best known of these constructs"),
    Question("calamistrum", "/spinnerets", "a row of curved bristles"),
    Question("Cyclocosmia phragmosis", "/trapdoor-spiders", "is called phragmosis"),
    Question("Octonoba sybotides", "/stabilimenta", "hungry spiders make spiral decorations"),
    Question("GS-omega/kappa-Hxtx-Hv1a", "/venom", "sold as an insecticide"),
    Question("dibromoindigo Friedländer", "/weaving/dyes", "obtained 1.4 g of pure dye"),
    Question("Laoguanshan", "/weaving/looms", "the oldest pattern looms known"),
    Question("Guriurius minuano", "/history/arachnology", "registered the 50,000th species"),
    Question("Nosema bombycis", "/weaving/silk-road", "a microsporidian parasite"),
)

# Paraphrases: the page uses other words, so search must match the meaning.
PARAPHRASES: Final = (
    Question(
        "how can tiny arachnids cross the sea through the sky without wings",
        "/ballooning",
        "few animals of their size travel further",
    ),
    Question(
        "which creature lives submerged in a pond and refills its own air supply",
        "/fishing-spiders",
        "The bell works as a physical gill",
    ),
    Question(
        "feeling the approach of prey through waves",
        "/fishing-spiders",
        "Ripples from wind are slow",
    ),
    Question(
        "why does a leaping hunter fasten a rope before it pounces",
        "/draglines",
        "Its pull acts at the end of the abdomen",
    ),
    Question("livestock engineered to secrete fibre", "/biomimetics", "The goats became famous"),
    Question(
        "storing immunisation shots in tropical heat",
        "/medicine",
        "the cold chain could become shorter",
    ),
    Question("repairing severed nerves", "/medicine", "A cut nerve grows back"),
    Question("predators with night goggles", "/vision", "has some of the largest simple eyes"),
    Question(
        "why is energy absorbed before breaking more impressive than being stronger than metal",
        "/mechanical-properties",
        "the energy that must be spent to break it",
    ),
    Question(
        "hallucinogens and stimulants tested on arachnids",
        "/orb-webs",
        "Caffeine produced ragged webs",
    ),
    Question(
        "a conspicuous adornment whose purpose is debated by scientists",
        "/stabilimenta",
        "there is no agreement on what it is for",
    ),
    Question(
        "smuggling a trade secret hidden in a royal hairdo",
        "/weaving/silk-road",
        "past the border guards in her head-dress",
    ),
    Question(
        "ancestor of computer programming in the textile industry",
        "/weaving/looms",
        "the Analytical Engine weaves algebraical patterns",
    ),
    Question(
        "teenager who accidentally discovered artificial colour",
        "/weaving/dyes",
        "from which alcohol drew out a purple",
    ),
    Question(
        "tale of a proud girl punished by a goddess for her skill",
        "/history/arachnology",
        "turns her into a spider",
    ),
)

QUESTIONS: Final = EXACT_TERMS + PARAPHRASES
