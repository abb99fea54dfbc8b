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
    r"\bfrom\s+now\s+on\b|\bgoing\s+forward\b|\bas\s+a\s+rule\b",
    r"\bstick\s+(?:to|with)\b|\bmake\s+sure\b|\bbe\s+sure\s+(?:to|that)\b|\bremember\s+to\b",
    r"\b(?:only|just)\s+(?:use|edit|change|touch|commit|push|work|write|run|add|import|ever)\b",
    r"\buse\s+\S.{0,80}\b(?:instead|rather\s+than|and\s+not|,\s*not)\b|\binstead\s+of\s+\w+ing\b",
    r"\bstop\s+\w+ing\b|\bavoid\s+\w+|\bleave\s+.{1,60}\b(?:alone|as\s+(?:it|they)\s+(?:is|are)|untouched)\b",
    r"\bkeep\s+.{1,60}\b(?:as\s+(?:it|they)\s+(?:is|are)|unchanged|compatible|below|under|in\s+sync)\b",
    r"\bwithout\s+(?:asking|my\s+\w+|telling|permission)\b|\b(?:ask|check\s+with)\s+me\s+(?:before|first)\b",
    r"\bi\s+(?:said|told\s+you|asked\s+(?:you|for)|already\s+said|never\s+(?:said|asked))\b"
    r"|\bnot\s+what\s+i\b|\bthat['’]?s\s+(?:wrong|not\s+(?:right|correct|what))\b|\bthat\s+is\s+wrong\b",
    r"^(?:no|nope|wrong|stop)\b\s*[,.:;!–—-]+\s*\w.{6}|^no\s+(?:the|that|this|it|use|not)\b",
    r"^(?:(?:a|the|one|new)\s+)?rules?\b[^.:]{0,40}:|\bfrozen\b.{0,40}\bno\b|\boff[\s-]limits\b|\bcode\s+freeze\b",
    r"\bbefore\s+you\s+(?!go\b|left\b)\w+|\bbefore\s+(?:each|every|any)\s+\w+|\bafter\s+(?:each|every)\s+\w+",
    # German
    r"\b(?:nie|niemals|immer|keinesfalls|ausschließlich|stets)\b|\bauf\s+keinen\s+fall\b",
    r"\bab\s+(?:jetzt|sofort|heute)\b|\bin\s+zukunft\b|\bkünftig\b|\bnur\s+noch\b",
    r"\bbitte\s+(?:\w+\s+){0,4}(?:nicht|kein\w*)\b|\b(?:darfst|sollst|musst|dürfen|müssen)\b.{0,60}"
    r"\b(?:nicht|nur|kein\w*|immer)\b|\bhalte?\s+dich\s+an\b|\bbleib\s+bei\b|\blass\s+.{1,60}\bso\b",
    r"\bohne\s+(?:zu\s+fragen|mich\s+zu|rückfrage)\b|\bdas\s+(?:ist|war)\s+falsch\b"
    r"|\b(?:ich\s+)?(?:hatte|habe)\s+(?:doch\s+)?gesagt\b|\bstatt\s+\w+\b.{0,40}\b(?:nimm|verwende|benutze)\b"
    r"|\b(?:nimm|verwende|benutze)\b.{1,60}\bstatt\b",
    r"^(?:nein|nee|halt|falsch)\s*[,.:;!–—-]\s*\w.{6}",
    r"^(?:neue\s+)?regeln?\b[^.:]{0,40}:|\beingefroren\b.{0,40}\bkein|\bbevor\s+du\s+\w+"
    r"|\b(?:vor|nach)\s+jede[mr]\s+\w+|\bohne\s+mich\b"
    r"|\b(?:wird|werden)\s+(?:nichts|nie)\b|^fass\s+.{1,60}\bnicht\s+an\b",
    # French
    r"\b(?:jamais|toujours|désormais|dorénavant|uniquement|surtout\s+pas)\b|\bà\s+partir\s+de\s+maintenant\b",
    r"^(?:ne|n['’])\s?\w+.{0,40}\b(?:pas|plus|rien)\b|\bil\s+(?:ne\s+)?faut\s+(?:pas|toujours)\b"
    r"|\btu\s+(?:ne\s+)?(?:dois|peux)\b.{0,40}\b(?:pas|plus|jamais|toujours)\b|\bévite[zr]?\b"
    r"|\bau\s+lieu\s+d[e'’]|\bj['’]ai\s+(?:déjà\s+)?dit\b|\bc['’]est\s+faux\b",
    r"^non\s*[,.:;!–—-]\s*\w.{6}|^règles?\b[^.:]{0,40}:|\bgelée?s?\b.{0,40}\b(?:pas|aucun)"
    r"|\bavant\s+(?:de|que\s+tu|chaque)\s+\w+|\bsans\s+me\s+\w+",
    # Spanish, Portuguese, Italian
    r"\b(?:nunca|siempre|jamás|sempre)\b|\ba\s+partir\s+de\s+(?:ahora|agora)\b|\bd['’]ora\s+in\s+poi\b",
    r"^(?:por\s+favor,?\s+)?(?:no|não|non)\s+(?:lo\s+|la\s+)?(?:hagas|uses|usar|use|toques|tocar|toque|cambies"
    r"|cambiare|modificare|mude|borres|añadas|faça|fare|mexa|altere|committare|subas|crees)\b"
    r"|\bevita\b|\ben\s+lugar\s+de\b|\bem\s+vez\s+de\b|\binvece\s+di\b|\bte\s+dije\b|\best[áa]\s+mal\b"
    r"|\bnon\s+devi\b|\bmai\s+\w{4,}",
    r"^(?:no|não)\s*[,.:;!–—-]\s*\w.{6}",
    r"^(?:reglas?|regras?|regol[ae])\b[^.:]{0,40}:|\bcongela[dt][oaie]s?\b.{0,40}\b(?:no|nada|niente|nunca)\b"
    r"|\bantes\s+de\s+(?:que|cada)\s+\w+|\bsin\s+(?:preguntarme|mi\s+\w+|avisar)|\bya\s+no\s+\w+|\bsem\s+me\s+\w+",
    # Russian
    r"^нет\s*[,.:;!–—-]\s*\w.{6}|\bпрежде\s+чем\b|\bперед\s+каждым\b",
    r"\b(?:никогда|всегда|отныне|впредь|обязательно|ни\s+в\s+коем\s+случае)\b"
    r"|\bне\s+(?:надо|нужно|используй|трогай|делай|меняй|удаляй|коммить|пиши|добавляй)\w*\b"
    r"|\bтолько\s+не\b|\bя\s+(?:же\s+)?сказал\w*\b",
    # Forms of any verb or noun, by language: what is forbidden, what stays, whose task it is
    r"(?:^|[,;:–—-]\s*|\b(?:and|but|so|please|kindly)\s+)no\s+(?:(?:more|new)\s+)?(?!idea\b|clue\b|problem"
    r"|worr|rush\b|hurry\b|thanks\b|matter\b|wonder\b|luck\b|doubt\b|response|output|errors?\b|results?\b"
    r"|one\b|need\b|way\b|longer\b|funciona|queda|tengo\b|hay\b|entiendo|aparece|encuentr|carga\b|sale\b|puedo|veo\b)[a-z]{3}",
    r"(?:^|[,;:–—-]\s*|\bso\s+)nothing\s+(?!happen|chang|work|show|c[oa]me|is\s+(?:shown|logged|written))\w"
    r"|^only\s(?!.*\b(?:fail|crash|work|happen|broke|break|pass)\w*\b)",
    r"\bhands\s+off\b|\btaboo\b|\bno\s+exceptions?\b|\bwithout\s+exception\b|\bunder\s+no\s+circumstances\b"
    r"|\brefrain\s+from\b|\bread-only\b|\bin\s+mind\b|\bi\s+(?:do\s+not|don['’]?t|only)\s+want\b|\bi['’]?d\s+rather\b",
    r"\b(?:has|have|needs?)\s+to\s+(?:stay|remain|keep|continue|be|pass|support|match)\b|\b(?:stays?|remains?)"
    r"\s*(?:[.,;!]|$|(?:as|on|where|in\s+place|private|public|compatible|un\w+)\b)",
    r"(?:^|[,;:–—-]\s*|\bplease\s+)keep\s+(?!going\b|on\b|up\b|at\b|\w+ing\b)\w"
    r"|\bleave\s+.{1,60}\bto\s+me\b|\bthrough\s+me\b|\b(?:let\s+me|i['’]ll|i\s+will)\s+.{1,40}\bmyself\b",
    r"\b(?:ask|tell|ping|check\s+with|talk\s+to)\s+\w+\s+(?:first|if\s+you|when\s+you|whenever)\b"
    r"|\bask\s+(?:first\b|before\b)|\bfrom\s+(?:here|\w+\s+\d+)\s+on(?:wards)?\b|\bone\s+\w+\s+per\s+\w+|\bwhenever\s+you\b",
    r"\bfinger\s+weg\b|\bhände\s+weg\b|\btabu\b|\bausnahmslos\b|\bgrundsätzlich\b|\bohne\s+(?:ausnahme|dass\s+ich)\b"
    r"|(?:^|[,;:–—-]\s*|\bbitte\s+)kein(?:e[nrms]?)?\s+(?!ahnung|idee|problem|sorge|stress|eile|wunder|meldung)\w{3}",
    r"\b(?:ich|wir)\s+(?:will|wollen|möchten?|verwenden|benutzen|nehmen)\s+.{0,30}\b(?:kein\w*|nur|nichts)\b"
    r"|\b\w+st\s+du\s+.{0,60}\b(?:nicht|nur|nichts|kein\w*)\b|^(?:ge|ver|be)\w+(?:t|en)\s+wird\s",
    r"\b(?:fass|rühr|tast)\w*\s+.{1,60}\bnicht\s+an\b|^(?:lösch|änder|nutz|verwend|benutz|schreib|bau|mach|nimm"
    r"|setz|push|commit|merg|entfern|verschieb|benenn|install|start|füg|leg|lass|stell)\w*\s+.{0,80}"
    r"\b(?:nicht|nichts|kein\w*|nur)\b",
    r"\bbleib(?:t|en|e)?\s*(?:[.,;!]|$|(?:so|bei|wie|an|drin|erhalten|dabei|kompatibel|un\w+)\b)|\bfrage?t?\s+(?:mich|uns|vorher)\b"
    r"|^nur\s(?!.*\b(?:schlägt|geht|läuft|klappt|funktioniert|fehlt)\b)",
    r"(?:^|[,;:–—-]\s*|\b(?:y|pero|que|favor|aviso)\s+)(?:no|aquí\s+no)\s+(?:(?:me|te|le|lo|la|los|las)\s+)*(?!tienes|sabes|puedes"
    r"|debes|tenemos|sabemos|vemos|podemos|quieres|entendemos|más\b|las\b|los\b)\w{2,}(?:[ae]s|[aei]mos)\b",
    r"\bni\s+se\s+te\s+ocurra\b|\bhasta\s+nuevo\s+aviso\b|\bintocables?\b|\bsin\s+excepci|\bno\s+quer?(?:ie|e)\w+\b"
    r"|\bnada\s+de\s+\w+|^s[oó]lo\s(?!.*\bf(?:alla|unciona))|\bantes\s+de\s+\w+r\s+(?:nada|algo)\b"
    r"|\bse\s+quedan?\s+(?:como|igual|así|fuera)\b",
    r"\bon\s+(?:ne\s+|n['’])(?!voit|sait|comprend|peut).{1,40}\b(?:pas|plus|rien)\b|\bsans\s+(?:exception|que\s+je)\b"
    r"|(?:^|[,;:–—-]\s*)(?:pas|plus)\s+(?:de\s+|d['’])(?!souci|problème|idée|chance)\w|\bintouchables?\b"
    r"|^não\s+\w{2,}[ae]s\b|^(?:niente|nessun\w*)\s",
    r"\b(?:commits?|messages?|comments?|docs?|names?|strings?|everything|all)\b.*\bin\s+(?:english|german|french|spanish)\b"
    r"|\b(?:commit\S*|nachricht\w*|kommentare?|namen?|texte?|mensajes?|comentarios?|nombres?|noms?|commentaires?|alles?|todo)\b"
    r".*\b(?:auf|en)\s+(?:deutsch|englisch|französisch|inglés|español|alemán|anglais|français|allemand)\b",
    r"\b(?:every|each|all|jede[rsnm]?|alle|cada|todos|todas|chaque|tous|toutes)\s+.{1,60}\b(?:needs?|gets?|goes|has|have"
    r"|must|brauch\w+|bekomm\w+|gehör\w+|hat|haben|necesitan?|llevan?|tienen?|van?|doit|doivent|prend)\b"
    r"|\b(?:nowhere|nirgend\w*|ning[úu]n\s+otro|nulle\s+part)\b",
    r"\bhold\s+off\b|\bwait\s+(?:with|until|till)\b|\bwarte?\s+.{0,60}\b(?:mit|bis)\b|^esper[ae]\b|^attend[sz]?\b"
    r"|\byou\s+can\s+ignore\b|\bprefer\s+\w+|^(?:ohne|sin|sans|senza|sem|without)\s+\w+"
    r"|\b(?:instead\s+of|statt|en\s+vez\s+de|en\s+lugar\s+de|au\s+lieu\s+de)\s+\d|\bnur\s+\w+e\s+\w+[.!]?$",
    # Chinese, Japanese, Korean
    r"不要|不许|不准|禁止|务必|必须|永远|一定要|从现在开始|别再|不能再|以后都|只能用|不對|不对",
    r"しないで|使わないで|ないでください|してはいけない|必ず|絶対に|今後は|常に|やめて(?:ください)?|べきではない",
    r"하지\s?마|절대로?|항상|반드시|앞으로는|금지|쓰지\s?마",
)
_CORRECTIONS = (
    # English
    r"^(?:i['’]?m\s+)?(?:correction|sorry,?\s+i)\b|\b(?:i\s+was|my)\s+(?:wrong|mistake|bad)\b|^forget\s+(?!it\b)\S",
    r"\bchanged\s+my\s+mind\b|\bafter\s+all\b|\bwas\s+(?:a\s+mistake|wrong)\b|\bscratch\s+that\b"
    r"|\b(?:we|you|is|are)\s+no\s+longer\s+(?:need|want|use|support|ship|require|necessary|valid|true|allowed)\w*",
    r"^sorry,?\s+wrong\b|\b(?:freeze|ban|embargo|restriction)\s+is\s+(?:over|lifted)\b|\bi\s+(?:misspoke|mistyped|meant|was\s+mistaken|mixed\s+.{1,30}up|got\s+.{1,20}\bwrong)\b|^wrong\s+\w+",
    r"\byou\s+(?:may|can|are\s+allowed\s+to)\s+.{1,80}\b(?:now|again|yourself|anyway)\b|\byou\s+may\s+(?!have\b|be\b|see\b)\w+"
    r"|\b(?:you\s+(?:don['’]t|do\s+not)\s+(?:have|need)|no\s+need)\s+to\b|\b(?:is|are)\s+(?:allowed|permitted|lifted)\b",
    # German
    r"^korrektur\b|\bmein\s+fehler\b|^vergiss\s+\w|\bwar\s+(?:ein\s+fehler|falsch)\b|\banders\s+überlegt\b|\bdoch\s+lieber\b"
    r"|\bnicht\s+mehr\s+(?:nötig|gültig|erforderlich|gebraucht)|\bist\s+aufgehoben\b|\bdu\s+darfst\b|\bich\s+meinte\b",
    r"\b(?:mich|hab\w*)\s+.{0,30}\b(?:vertan|geirrt|verschrieben|vertippt|getäuscht)\b|\bmeinte\b|\bbrauchst\s+(?:du\s+)?(?:nicht|kein)"
    r"|\b(?:kannst|darfst)\s+(?:du\s+)?.{0,60}\b(?:jetzt|doch|wieder|weglassen)\b|\b(?:jetzt|wieder|doch)\s+erlaubt\b",
    # French
    r"^(?:correction|rectification)\b|\bje\s+me\s+suis\s+trompé|^oublie[zr]?\s+\w|\bchangé\s+d['’]avis\b|^finalement\b"
    r"|\btu\s+peux\s+.{1,60}\b(?:maintenant|quand\s+même|de\s+nouveau)|\b(?:est|sont)\s+(?:permis|autorisé)\w*"
    r"|\bje\s+voulais\s+dire\b|\bplus\s+besoin\s+d",
    # Spanish, Portuguese, Italian
    r"^(?:corrección|correção|correzione)\b|\bme\s+equivoqué\b|\bmi\s+error\b|^(?:olvida|esquece|dimentica)\s+\w"
    r"|\bcambiado\s+de\s+(?:idea|opinión)\b|\bmudei\s+de\s+ideia\b|\bcambiato\s+idea\b|\bfue\s+un\s+error\b|\bya\s+no\s+\w+",
    r"\bme\s+(?:he\s+)?(?:liado|equivocado|confundido|confundí)|\bqu(?:ise|ería)\s+decir\b|\bno\s+hace\s+falta\b"
    r"|\b(?:ya|ahora)\s+(?:sí\s+)?(?:puedes|se\s+puede)\b",
    # Russian
    r"\bя\s+(?:ошибся|ошиблась|передумал\w*)\b|^забудь\b",
    # One thing and not the other, at the end of a sentence
    r",\s*not\s+(?!sure\b|yet\b|really\b|only\b|too\b)(?:\w+\s+){0,2}\S+$|,\s*nicht\s+(?!dass\b|wahr\b|sicher\b|mehr\b)(?:\w+\s+){0,2}\S+$"
    r"|,\s*(?:y\s+)?no\s+(?:en\s+|el\s+|la\s+)?[^\s,]+$|,\s*(?:et\s+)?pas\s+(?:en\s+|le\s+|la\s+)?[^\s,]+$",
)
_CORRECTION = re.compile("|".join(f"(?:{one})" for one in _CORRECTIONS), re.IGNORECASE)
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
    return _ORDER.search(sentence) is not None or is_correction(sentence)


def is_correction(sentence: str) -> bool:
    """Return whether a sentence changes what was said, or allows what was forbidden."""
    return _CORRECTION.search(sentence) is not None


def _sentences(text: str) -> Iterator[str]:
    for line in _FENCE.sub("\n", text).split("\n"):
        if _NO_SENTENCE.match(line):
            continue
        bare = _EMPHASIS.sub("", _BULLET.sub("", line, count=1)).strip()
        for sentence in _END.split(bare):
            if sentence.strip():
                yield sentence.strip()
