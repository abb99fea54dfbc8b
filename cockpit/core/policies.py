"""Find sentences that say how a project does things, such as "We use pnpm here".

Such a sentence, a policy, is not worded as an order. Most sentences with the same words describe
the code or a bug, so the pattern is narrow: a policy names the project, or a thing for which
projects have rules.
"""

from __future__ import annotations

from cockpit.core.deferred_pattern import deferred_pattern

LONGEST = 120
"""Maximum characters of a policy; a longer sentence usually says something else too."""
MOST_WORDS = 12

_HERE = (
    r"(?:(?:around\s+)?here"
    r"|in\s+(?:this|our)\s+(?:repo(?:sitory)?|project|code\s?base|workspace|monorepo|package))"
)
_NO_ONE_THING = (
    r"(?!(?:the|a|an|this|that|these|those|its?|one|two|three|den|die|das|de[rm]|eine?[nmr]?|zwei|drei"
    r"|el|la|los|las|una?|dos|tres|en\s+(?:el|la|una?)|il|lo|gli|i|um|uma|os|as|een|het|le|les|une?|deux|dans\s+(?:le|la|les|une?)|in\s+(?:die|den|das|eine?n?))\b)"
)
"""Excludes nouns with an article or a number: a sentence with such a noun usually describes the
code."""
_WE = (
    r"we\s+(?:only\s+|always\s+|all\s+)?(?:use|write|do|follow|commit|branch|prefer|name|format|lint|squash|rebase"
    r"|target|test\s+with|work\s+(?:with|on|in))"
)
_THINGS = (
    r"(?:(?:unit|e2e|integration|api|our|new|all|the)\s+)*(?:tests?|specs|docs|migrations|fixtures|snapshots|components|schemas"
    r"|translations|strings|secrets|scripts|mocks|stories|adrs|types|styles|changelog\s+entries|generated\s+files)"
)
_HIER = r"(?:hier|bei\s+uns|in\s+diesem\s+(?:projekt|repo(?:sitory)?|paket))"
_WIR = r"(?:nutzen|verwenden|benutzen|schreiben|arbeiten|committen|mergen|formatieren|testen|bauen)"
_DINGE = r"(?:tests|migrationen|fixtures|docs|komponenten|snapshots|schemas|skripte|übersetzungen)"
_AQUI = r"(?:aquí|en\s+este\s+(?:proyecto|repo(?:sitorio)?|paquete))"
_COSAS = (
    r"(?:tests|pruebas|migraciones|fixtures|docs|componentes|snapshots|esquemas|scripts"
    r"|traducciones|commits)"
)
_ICI = r"(?:ici|dans\s+ce\s+(?:projet|dépôt|repo|paquet))"
_CHOSES = r"(?:tests|migrations|fixtures|docs|composants|snapshots|schémas|scripts|traductions)"
_QUI = r"(?:qui|da\s+noi|in\s+questo\s+(?:progetto|repo(?:sitory)?|pacchetto))"
_USIAMO = r"(?:si\s+usa|si\s+usano|usiamo|utilizziamo|scriviamo|lavoriamo|seguiamo)"
_PT_AQUI = r"(?:aqui|neste\s+(?:projeto|repo(?:sitório)?|pacote))"
_PT_USAMOS = r"(?:se\s+usa|usamos|utilizamos|escrevemos|trabalhamos|seguimos)"
_DONE = (
    r"(?:managed|installed|built|formatted|linted|generated|run|started|deployed|tested|released"
    r"|written|pinned|bumped)"
)
_POLICY = deferred_pattern(
    "|".join(
        (
            rf"^{_HERE},?\s+{_WE}\s+{_NO_ONE_THING}\w",
            rf"^{_WE}\s+{_NO_ONE_THING}.{{1,60}}\s{_HERE}[.!]?$",
            r"^(?:the|our)\s+(?:(?:house|team|project|repo|code|naming|branch)\s+)*(?:style|convention|policy|standard)"
            r"\s+(?:(?:here|for\s+\w+)\s+)?(?:is|are)\s+\w",
            rf"^{_THINGS}\s+(?:live|go|belong|sit)\s+.{{0,30}}(?:\S/|\bnext\s+to\s|\bbeside\s|\bwiki\b)",
            r"^our\s+(?:commits|branches|tests|messages|names|columns|endpoints)\s+follow\s",
            r"^(?:dates|times|timestamps|names|ids|columns|paths|amounts)\s+are\s+(?:in\s+)?\S+\s+everywhere\b",
            rf"^this\s+(?:project|repo(?:sitory)?|code\s?base|package|library)\s+(?:targets|only\s+supports|follows)\s+(?!up\b|more\b){_NO_ONE_THING}\w",
            r"^everything\s+(?!else\b)(?:\w+[\s-]){1,4}goes\s+(?:through|via|into|under)\s",
            r"^(?:generated|vendored|lock)\s+\w+\s+are\s+(?:committed|checked\s+in|ignored)\b",
            r"^we(?:['’]re|\s+are)\s+an?\s+\S+\s+(?:shop|team|code\s?base|project|repo)\b",
            rf"^(?:\w+\s+){{1,3}}(?:is|are)\s+{_DONE}\s+(?:with|via|through|by|using)\s+\S+(?:\s\S+)?\s+{_HERE}",
            rf"^(?:all\s+(?:\w+\s+){{1,2}}|everything\s+)(?:is|are|gets)\s+{_DONE}\s+(?:with|via|through|by|using)\s",
            # German
            rf"^wir\s+{_WIR}\s+{_HIER}\s+{_NO_ONE_THING}\w|^{_HIER}\s+{_WIR}\s+wir\s+{_NO_ONE_THING}\w",
            r"^unsere?\s+(?:\w+-)?(?:konvention|stil|vorgabe|richtlinie|hausstil)\s+(?:ist|sind|lautet)\s",
            rf"^{_HIER}\s+(?:liegen|stehen|gehören)\s+(?:die\s+)?{_DINGE}\s.{{0,30}}(?:\S/|\bneben\s)",
            rf"^(?:alle\s+|die\s+|neue\s+)?{_DINGE}\s+(?:liegen|gehören|kommen)\s+.{{0,30}}(?:\S/|\bneben\s)",
            rf"^bei\s+uns\s+gilt\s|^{_HIER}\s+wird\s+mit\s+\S+\s+(?:formatiert|getestet|gebaut|geprüft|gearbeitet)",
            rf"^{_HIER}\s+(?:läuft|geht)\s+(?:alles|jede\w*\s+\w+)\s+(?:über|mit)\s",
            rf"^(?:\w+\s+){{1,2}}(?:wird|werden)\s+{_HIER}\s+(?:mit|über)\s+\S+\s+(?:verwaltet|installiert|gebaut|formatiert|getestet|ausgeliefert)",
            # Italian, Portuguese, Dutch, Polish, Russian
            rf"^{_QUI},?\s+{_USIAMO}\s+{_NO_ONE_THING}\w|^{_USIAMO}\s+{_NO_ONE_THING}.{{1,60}}\s{_QUI}[.!]?$",
            rf"^{_PT_AQUI},?\s+{_PT_USAMOS}\s+{_NO_ONE_THING}\w|^{_PT_USAMOS}\s+{_NO_ONE_THING}.{{1,60}}\s{_PT_AQUI}[.!]?$",
            rf"^(?:hier|bij\s+ons|in\s+dit\s+(?:project|repo\w*))\s+(?:gebruiken|schrijven|werken|volgen)\s+we\s+{_NO_ONE_THING}\w",
            rf"^we\s+(?:gebruiken|schrijven|werken|volgen)\s+hier\s+{_NO_ONE_THING}\w",
            r"^(?:tutaj|tu|u\s+nas|w\s+tym\s+(?:projekcie|repo\w*))\s+(?:używamy|piszemy|pracujemy)\s|^używamy\s+tu(?:taj)?\s",
            r"^(?:здесь|тут|у\s+нас|в\s+этом\s+(?:проекте|репо\w*))\s+(?:мы\s+)?(?:используем|пишем|работаем)\s|^мы\s+(?:здесь|тут)\s+используем\s",
            # Spanish
            rf"^{_AQUI},?\s+(?:usamos|utilizamos|escribimos|trabajamos|seguimos)\s+{_NO_ONE_THING}\w",
            rf"^(?:usamos|utilizamos|escribimos|trabajamos|seguimos)\s+(?!una?\s).{{1,60}}\s{_AQUI}[.!]?$",
            r"^nuestr[ao]\s+(?:convención|estilo|norma)\s+(?:es|son)\s",
            rf"^(?:{_AQUI},?\s+)?(?:los|las)\s+{_COSAS}\s+(?:viven|van)\s+.{{0,30}}(?:\S/|\bjunto\s|\ben\s+inglés\b)",
            rf"^{_AQUI}\s+se\s+(?:formatea|prueba|construye|trabaja)\s+con\s",
            # French
            rf"^{_ICI},?\s+(?:on|nous)\s+(?:utilis|écri|travaill|sui)\w+\s+{_NO_ONE_THING}\w",
            r"^notre\s+(?:convention|style|norme)\s+est\s",
            rf"^(?:{_ICI},?\s+)?les\s+{_CHOSES}\s+(?:se\s+trouvent|vont)\s+.{{0,30}}(?:\S/|\bà\s+côté\s)",
        )
    )
)
_TELLS = deferred_pattern(
    r"\b(?:that|which|who|because|since|but|until|then|where|when|while|broken|wrong|bugs?|errors?|fail\w*|crash\w*|stale|slow\w*"
    r"|flaky|outdated|unclear|missing|currently|yesterday|today|still|already|seems?|apparently|probably|weird|twice"
    r"|again|too|maybe|mess|much|many|lots|about|nothing|anything|far|most|instead|zu\s+viel|trop|demasiad\w+|honestly|ugly|bad|awful|lost|hässlich|feo|moche|reproduce|debug|weil|aber|obwohl|fehler|noch|gerade|seit|schon|leider|wohl|gestern|kaputt|langsam"
    r"|porque|pero|desde|todavía|ayer|ya|fallan?|roto|lento|ma|però|perché|ancora|già|ieri|rotto|che|mas|ainda|ontem|lento|maar|nog|gisteren|ale|jeszcze|но|ещё|que|mais|depuis|encore|déjà|parce|cassé|lent|(?<!^)qui|où)\b"
    r"|,\s*(?:die|der|das|wo)\b|\bto\s+(?:find|see|check|fix|test|work\s+around)\b"
)


def is_policy(sentence: str) -> bool:
    """Return whether a sentence says how the project does things, and nothing else."""
    if len(sentence) > LONGEST or len(sentence.split()) > MOST_WORDS:
        return False
    text = sentence.lower()
    if _POLICY.search(text) is None:
        return False
    return _TELLS.search(text) is None
