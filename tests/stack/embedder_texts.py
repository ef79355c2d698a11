"""Texts of many kinds for the embedder: 1 to about 500 tokens, several scripts, code, symbols."""
# ruff: noqa: RUF001 - letters and quotes that look alike are what these texts are for

# The model was trained on English text.
ENGLISH_TEXTS = (
    "spider",
    "Orb weavers rebuild their web every night and eat the old silk.",
    "THE SAME WORDS IN CAPITALS: ORB WEAVERS REBUILD THEIR WEB.",
    "How strong is dragline silk compared with steel?",
    "A web page without much to say.\n\n\n\tBut   with\r\n much white   space.",
    "…!? --- «»“”‘’ (((())) [[]] {{}} <<>> %%% $$ ## @@ ~~ ^^ || \\\\ //",
    "3.14159 1,000,000 2024-02-29T23:59:60Z 192.168.0.1 0xDEADBEEF 1e-12 ½ Ⅷ",
    "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
    "SELECT url, count(*) FROM pages WHERE status = 200 GROUP BY url HAVING count(*) > 1;",
    '<a href="https://example.org/a?b=c&amp;d=%20e#f" class="x y">link</a><!-- note -->',
    "[CLS] words that look [MASK] like special [SEP] tokens [PAD] [UNK]",
    "pneumonoultramicroscopicsilicovolcanoconiosis " + "x" * 120,
    "Silk glands differ: major ampullate silk makes draglines, flagelliform silk the spiral. " * 9,
    "It anchors a thread, walks on, tightens it, and measures the next gap with its legs. " * 24,
)

# The model splits words outside its vocabulary into single letters or the unknown token.
OTHER_TEXTS = (
    "Ærøskøbing, Łódź, Šibenik, İstanbul, Straße, naïve façade, cooperación, déjà-vu",
    "Cafe\u0301 au lait, nai\u0308ve, A\u030angstro\u0308m: accents as combining characters.",
    "Пауки плетут паутину из шёлка. Η αράχνη υφαίνει ιστό.",
    "北京天安门广场。蜘蛛がクモの巣を張る。거미는 거미줄을 친다.",
    "العنكبوت ينسج خيوطه. העכביש טווה קורים. मकड़ी जाला बुनती है।",
    "Emoji 🕷️🕸️ families 👨‍👩‍👧‍👦, flags 🇳🇱, skin 👍🏽, and 𝒻𝒶𝓃𝒸𝓎 letters.",
)

TEXTS = ENGLISH_TEXTS + OTHER_TEXTS
