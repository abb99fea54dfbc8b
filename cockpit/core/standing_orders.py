"""Find standing orders and corrections in a prompt of the user, in several languages.

The pattern is cautious: it finds sentences that say what must always, never or no longer be done,
and sentences that say that something was wrong. Their meaning is not analysed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

READ = 20_000
"""Maximum characters of a prompt that are read."""
LONGEST = 400
"""Maximum characters of an order; a longer sentence is probably pasted text."""

_ORDERS = (
    # English
    r"(?:^|[,;:(–—-]\s*|\b(?:and|but|so|please|just|also|then|you|we|they|it|that|this)\s+)"
    r"(?:do\s+not|don['’]?t|never|always)\s+(?!know\b|think\b|understand\b|see\b|mind\b|have\b"
    r"|remember\b|care\b|need\b|get\b|worry\b|seem\b|work\b|want\s+you\b)\w",
    r"\b(?:must|should|shall|may|can)\s*(?:not|n['’]t|never|always|only)\b.{3}",
    r"\b(?:you|we|it|they|everything|all|each|every\s+\w+)\s+(?:must|have\s+to|need\s+to)\b.{3}",
    r"\bfrom\s+now\s+on\b|\bgoing\s+forward\b|\bas\s+a\s+rule\b|\bno\s+longer\s+\w+|\bnot\s+any\s?more\b",
    r"\bstick\s+(?:to|with)\b|\bmake\s+sure\b|\bbe\s+sure\s+(?:to|that)\b|\bremember\s+to\b",
    r"\b(?:only|just)\s+(?:use|edit|change|touch|commit|push|work|write|run|add|import|ever)\b",
    r"\buse\s+\S.{0,80}\b(?:instead|rather\s+than|and\s+not|,\s*not)\b|\binstead\s+of\s+\w+ing\b",
    r"\bstop\s+\w+ing\b|\bavoid\s+\w+|\bleave\s+.{1,60}\b(?:alone|as\s+(?:it|they)\s+(?:is|are)|untouched)\b",
    r"\bkeep\s+.{1,60}\b(?:as\s+(?:it|they)\s+(?:is|are)|unchanged|compatible|below|under|in\s+sync)\b",
    r"\bwithout\s+(?:asking|my\s+\w+|telling|permission)\b|\b(?:ask|check\s+with)\s+me\s+(?:before|first)\b",
    r"\bi\s+(?:said|told\s+you|asked\s+(?:you|for)|already\s+said|never\s+(?:said|asked))\b"
    r"|\bnot\s+what\s+i\b|\bthat['’]?s\s+(?:wrong|not\s+(?:right|correct|what))\b|\bthat\s+is\s+wrong\b",
    r"^(?:no|nope|wrong|stop)\b[,.:;!\s–—-]+\w.{6}",
    r"^(?:i['’]?m\s+)?(?:correction|sorry,?\s+i)\b|\b(?:i\s+was|my)\s+(?:wrong|mistake|bad)\b|^forget\s+(?!it\b)\S",
    r"\bchanged\s+my\s+mind\b|\bafter\s+all\b|\bwas\s+(?:a\s+mistake|wrong)\b",
    r"^(?:(?:a|the|one|new)\s+)?rules?\b[^.:]{0,40}:|\bfrozen\b.{0,40}\bno\b|\boff[\s-]limits\b|\bcode\s+freeze\b",
    r"\bbefore\s+you\s+(?!go\b|left\b)\w+|\bbefore\s+(?:each|every|any)\s+\w+|\bafter\s+(?:each|every)\s+\w+",
    # German
    r"\b(?:nie|niemals|immer|keinesfalls|ausschließlich|stets)\b|\bauf\s+keinen\s+fall\b",
    r"\bab\s+(?:jetzt|sofort|heute)\b|\bin\s+zukunft\b|\bkünftig\b|\bnicht\s+mehr\b|\bnur\s+noch\b",
    r"\bbitte\s+(?:\w+\s+){0,4}(?:nicht|kein\w*)\b|\b(?:darfst|sollst|musst|dürfen|müssen)\b.{0,60}"
    r"\b(?:nicht|nur|kein\w*|immer)\b|\bhalte?\s+dich\s+an\b|\bbleib\s+bei\b|\blass\s+.{1,60}\bso\b",
    r"\bohne\s+(?:zu\s+fragen|mich\s+zu|rückfrage)\b|\bdas\s+(?:ist|war)\s+falsch\b"
    r"|\b(?:ich\s+)?(?:hatte|habe)\s+(?:doch\s+)?gesagt\b|\bstatt\s+\w+\b.{0,40}\b(?:nimm|verwende|benutze)\b"
    r"|\b(?:nimm|verwende|benutze)\b.{1,60}\bstatt\b",
    r"^(?:nein|nee|halt|falsch)\s*[,.:;!–—-]\s*\w.{6}|^korrektur\b|\bmein\s+fehler\b|^vergiss\s+\w|\bwar\s+(?:ein\s+fehler|falsch)\b",
    r"\banders\s+überlegt\b|\bdoch\s+lieber\b|^(?:neue\s+)?regeln?\b[^.:]{0,40}:|\beingefroren\b.{0,40}\bkein|\bbevor\s+du\s+\w+"
    r"|\b(?:vor|nach)\s+jede[mr]\s+\w+|\bohne\s+mich\b"
    r"|\b(?:wird|werden)\s+(?:nichts|nie)\b|^fass\s+.{1,60}\bnicht\s+an\b",
    # French
    r"\b(?:jamais|toujours|désormais|dorénavant|uniquement|surtout\s+pas)\b|\bà\s+partir\s+de\s+maintenant\b",
    r"^(?:ne|n['’])\s?\w+.{0,40}\b(?:pas|plus|rien)\b|\bil\s+(?:ne\s+)?faut\s+(?:pas|toujours)\b"
    r"|\btu\s+(?:ne\s+)?(?:dois|peux)\b.{0,40}\b(?:pas|plus|jamais|toujours)\b|\bévite[zr]?\b"
    r"|\bau\s+lieu\s+d[e'’]|\bj['’]ai\s+(?:déjà\s+)?dit\b|\bc['’]est\s+faux\b",
    r"^non\s*[,.:;!–—-]\s*\w.{6}|^(?:correction|rectification)\b|\bje\s+me\s+suis\s+trompé|^oublie[zr]?\s+\w"
    r"|\bchangé\s+d['’]avis\b|^règles?\b[^.:]{0,40}:|\bgelée?s?\b.{0,40}\b(?:pas|aucun)"
    r"|\bavant\s+(?:de|que\s+tu|chaque)\s+\w+|\bsans\s+me\s+\w+",
    # Spanish, Portuguese, Italian
    r"\b(?:nunca|siempre|jamás|sempre)\b|\ba\s+partir\s+de\s+(?:ahora|agora)\b|\bd['’]ora\s+in\s+poi\b",
    r"^(?:por\s+favor,?\s+)?(?:no|não|non)\s+(?:lo\s+|la\s+)?(?:hagas|uses|usar|use|toques|tocar|toque|cambies"
    r"|cambiare|modificare|mude|borres|añadas|faça|fare|mexa|altere|committare|subas|crees)\b"
    r"|\bevita\b|\ben\s+lugar\s+de\b|\bem\s+vez\s+de\b|\binvece\s+di\b|\bte\s+dije\b|\best[áa]\s+mal\b"
    r"|\bnon\s+devi\b|\bmai\s+\w{4,}",
    r"^(?:no|não)\s*[,.:;!–—-]\s*\w.{6}|^(?:corrección|correção|correzione)\b|\bme\s+equivoqué\b|\bmi\s+error\b|^(?:olvida|esquece|dimentica)\s+\w"
    r"|\bcambiado\s+de\s+(?:idea|opinión)\b|\bmudei\s+de\s+ideia\b|\bcambiato\s+idea\b|\bfue\s+un\s+error\b",
    r"^(?:reglas?|regras?|regol[ae])\b[^.:]{0,40}:|\bcongela[dt][oaie]s?\b.{0,40}\b(?:no|nada|niente|nunca)\b"
    r"|\bantes\s+de\s+(?:que|cada)\s+\w+|\bsin\s+(?:preguntarme|mi\s+\w+|avisar)|\bya\s+no\s+\w+|\bsem\s+me\s+\w+",
    # Russian
    r"^нет\s*[,.:;!–—-]\s*\w.{6}|\bя\s+(?:ошибся|ошиблась|передумал\w*)\b|^забудь\b|\bпрежде\s+чем\b|\bперед\s+каждым\b",
    r"\b(?:никогда|всегда|отныне|впредь|обязательно|ни\s+в\s+коем\s+случае)\b"
    r"|\bне\s+(?:надо|нужно|используй|трогай|делай|меняй|удаляй|коммить|пиши|добавляй)\w*\b"
    r"|\bтолько\s+не\b|\bя\s+(?:же\s+)?сказал\w*\b",
    # Chinese, Japanese, Korean
    r"不要|不许|不准|禁止|务必|必须|永远|一定要|从现在开始|别再|不能再|以后都|只能用|不對|不对",
    r"しないで|使わないで|ないでください|してはいけない|必ず|絶対に|今後は|常に|やめて(?:ください)?|べきではない",
    r"하지\s?마|절대로?|항상|반드시|앞으로는|금지|쓰지\s?마",
)
_ORDER = re.compile("|".join(f"(?:{one})" for one in _ORDERS), re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|(?<=[。！？])")
_NO_SENTENCE = re.compile(r"\s{4,}\S|\t|[>|$#%]|\d{4}-\d\d-\d\d|at \S+ ?\(|File \"|[{}\[<]")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__")


def standing_orders(prompt: str) -> list[str]:
    """Return the sentences of a prompt that are standing orders or corrections, word for word.

    Code, quotes, logs and questions are left out.
    """
    return [sentence for sentence in _sentences(prompt[:READ]) if _is_order(sentence)]


def _is_order(sentence: str) -> bool:
    if not 4 <= len(sentence) <= LONGEST or sentence.endswith(("?", "？")):
        return False
    return _ORDER.search(sentence) is not None


def _sentences(text: str) -> Iterator[str]:
    for line in _FENCE.sub("\n", text).split("\n"):
        if _NO_SENTENCE.match(line):
            continue
        bare = _EMPHASIS.sub("", _BULLET.sub("", line, count=1)).strip()
        for sentence in _END.split(bare):
            if sentence.strip():
                yield sentence.strip()
