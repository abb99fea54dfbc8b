"""Regular expressions for standing orders, corrections and other sentences, in several languages.

`standing_orders` matches the expressions against sentences in lower case, at the beginning of the
sentence, of a word or of a clause; East Asian expressions anywhere.
"""

from __future__ import annotations

ORDERS = (
    # English
    r"(?:^|[,;:(–—-]\s*|\b(?:and|but|so|please|just|also|then|you|we|they|that)\s+)"
    r"(?:do\s+not|don['’]?t|never|always)\s+(?:ever\s+)?(?!know\b|think\b|understand\b|see\b|mind\b|have\b"
    r"|remember\b|care\b|need\b|get\b|worry\b|seem\b|work\b|want\s+you\b|mind\b|do\s+anything\s+yet\b|stop\b|give\s+up\b|bother\b|thought\b|had\b|did\b|was\b|were\b|said\b|got\b|went\b|came\b|ran\b|wrote\b|saw\b|knew\b|felt\b|\w+ed\b)\w",
    r"\b(?:must|should|shall|may|can)\s*(?:not|n['’]t|never|always|only)\b.{3}",
    r"\b(?:you|it|they|everything|all|each|every\s+\w+)\s+(?:must|have\s+to|need\s+to)\b.{3}|\bwe\s+(?:must|have\s+to)\b.{3}"
    r"|\b(?:is|are)\s+(?:not\s+)?to\s+be\s+(?:\w+ed|written|kept|done)\b|^if\s+(?:in\s+doubt|unsure)\b|\bwhatever\s+(?:happens|you\s+do)\b|\bonce\s+you\s+(?:finish|are\s+done)\b|^let['’]s\s+agree\b|\byou\s+(?:can|may)\s+.{1,60}\bexcept\b"
    r"|\b(?:is|are)\s+not\s+(?:accepted|acceptable|allowed\s+here)\b|^(?:my|our)\s+rule\b|^(?:write|keep)\s+commit\s|^you\s+keep\s+\w+ing\b|^your\s+(?:job|task|part|scope)\s+is\b.*\bonly\b",
    r"\bfrom\s+now\s+on\b|\bgoing\s+forward\b|\bas\s+a\s+rule\b",
    r"\bstick\s+(?:to|with)\b|\bmake\s+sure\b|\bbe\s+sure\s+(?:to|that)\b|\bremember\s+(?:to|that)\b"
    r"|\bit['’]?s\s+important\s+(?:to|that)\b|\bcareful\s+not\s+to\b|\bfor\s+the\s+rest\s+of\s+(?:this|the)\b",
    r"\b(?:only|just)\s+(?:use|edit|change|touch|commit|push|work|write|run|add|import|ever)\b"
    r"|\b(?:use|edit|change|touch|commit|push|work|write|read|answer|reply)\s+(?:only|nothing|exclusively)\b"
    r"|\b(?:add|install|delete|remove)\s+nothing\b|\b(?:limit|restrict|confine)\s+(?:yourself|your\s+\w+)\s+to\b",
    r"\buse\s+\S.{0,80}\b(?:instead|rather\s+than|and\s+not|,\s*not)\b|\binstead\s+of\s+\w+ing\b"
    r"|^instead\s+of\s+.{1,60}\b(?:use|take|call|write)\b"
    r"|^(?:please\s+)?(?:use|write|put|keep|log)\s.*\b(?:throughout|everywhere)\s*[.!]?$|,\s*(?:always|every\s+time)\s*[.!]?$",
    r"(?:^|[,;:–—-]\s*|\b(?:and|so|please|just|to|must|should)\s+)(?:stop|quit)\s+\w+ing\b"
    r"|(?:^|[,;:–—-]\s*|\b(?:and|please|should|must|to)\s+)avoid\s+\S|\bleave\s+.{1,60}\b(?:alone|as\s+(?:it|they)\s+(?:is|are)|untouched)\b",
    r"\bkeep\s+.{1,60}\b(?:as\s+(?:it|they)\s+(?:is|are)|unchanged|compatible|below|under|in\s+sync)\b",
    r"\bwithout\s+(?:asking|my\s+\w+|telling|permission)\b|\bwait\s+for\s+(?:me|my)\b"
    r"|\byou(?:['’]re|\s+are)\s+not\s+(?:allowed|permitted|supposed)\b|\b(?:ask|check\s+with)\s+me\s+(?:before|first)\b",
    r"\bi\s+(?:said|told\s+you|asked\s+(?:you|for)|already\s+said|never\s+(?:said|asked))\b"
    r"|\bnot\s+what\s+i\b|\bthat['’]?s\s+(?:wrong|not\s+(?:right|correct|what))\b|\bthat\s+is\s+wrong\b",
    r"^(?:no|nope|wrong|stop)\b\s*[,.:;!–—-]+\s*\w.{6}|^no\s+(?:the|that|this|it|use|not)\b",
    r"^(?:(?:a|the|one|new)\s+)?rules?\b[^.:]{0,40}:|\bfrozen\b.{0,40}\bno\b|\boff[\s-]limits\b|\bcode\s+freeze\b",
    r"\bbefore\s+you\s+(?!go\b|left\b)\w+|\bbefore\s+(?:each|every|any)\s+\w+|\bafter\s+(?:each|every)\s+\w+"
    r"|\b(?:every|each)\s+time\s+(?:you|before|after)\b|^(?:nothing|nobody|no\s+one)\s.{1,80}\b(?:may|must|should|is\s+to)\b",
    r"\b(?:must|shall)\s+(?:stay|remain|keep|continue|pass|go\s+through|match|support)\b",
    # German
    r"(?<!noch\s)(?<!nigdy\s)\bnie\s+(?:\w+en|\w+t|ohne|direkt|auf|in|mit|ein\w*|die|den|das|etwas|vor)\b"
    r"|\b(?:niemals|immer(?!\s+(?:noch|wieder|mehr))|keinesfalls|ausschließlich|stets)\b|\bauf\s+keinen\s+fall\b",
    r"\bab\s+(?:jetzt|sofort|heute)\b|\bin\s+zukunft\b|\bkünftig\b|\bnur\s+noch\b",
    r"\bbitte\s+(?:\w+\s+){0,4}(?:nicht|kein\w*)\b|\b(?:darfst|sollst|musst|dürfen|müssen)\b.{0,60}"
    r"\b(?:nicht|nur|kein\w*|immer)\b|\bhalte?\s+dich\s+an\b|\bbleib\s+bei\b|\bhör\w*\s+auf\b|\bdie\s+finger\s+von\b|\bnur\s+nach\s+\w+\b"
    r"|\bohne\s+meine?\s+\w+|^(?:die|der|das|alle|jede\w*|deine?)\s+\w.{0,60}\b(?:muss|müssen|darf|dürfen)\s+\w|\blass\s+.{1,60}\bso\b",
    r"\bohne\s+(?:zu\s+fragen|mich\s+zu|rückfrage)\b|\bdas\s+(?:ist|war)\s+falsch\b"
    r"|\b(?:ich\s+)?(?:hatte|habe)\s+(?:doch\s+)?gesagt\b|\bstatt\s+\w+\b.{0,40}\b(?:nimm|verwende|benutze)\b"
    r"|\b(?:nimm|verwende|benutze)\b.{1,60}\bstatt\b",
    r"^(?:nein|nee|halt|falsch)\s*[,.:;!–—-]\s*\w.{6}",
    r"^(?:neue\s+)?regeln?\b[^.:]{0,40}:|\beingefroren\b.{0,40}\bkein|\bbevor\s+du\s+\w+"
    r"|\b(?:vor|nach)\s+jede[mr]\s+\w+|\bohne\s+mich\b"
    r"|\b(?:wird|werden)\s+(?:nichts|nie)\b|^fass\s+.{1,60}\bnicht\s+an\b",
    # French
    r"\b(?:jamais|toujours|désormais|dorénavant|uniquement|surtout\s+pas)\b|\bà\s+partir\s+de\s+maintenant\b",
    r"^(?:ne\s|n['’])(?!t['’]inqui|vous\s+inqui|t['’]en\s)\w+.{0,40}\b(?:pas|plus|rien)\b|\bil\s+(?:ne\s+)?faut\s+(?:pas|toujours)\b"
    r"|\btu\s+(?:ne\s+)?(?:dois|peux)\b.{0,40}\b(?:pas|plus|jamais|toujours)\b|\bévite[zr]?\b"
    r"|\bdoi(?:t|vent)\s+(?!y\s+avoir)\w|\barrête[zr]?\s+d|^reste[zr]?\s+(?:sur|avec|dans|à)\b|\bau\s+lieu\s+d[e'’]|\bj['’]ai\s+(?:déjà\s+)?dit\b|\bc['’]est\s+faux\b",
    r"^non\s*[,.:;!–—-]\s*\w.{6}|^règles?\b[^.:]{0,40}:|\bgelée?s?\b.{0,40}\b(?:pas|aucun)"
    r"|\bavant\s+(?:de|que\s+tu|chaque)\s+\w+|\bsans\s+me\s+\w+",
    # Spanish, Portuguese, Italian
    r"\b(?:nunca|siempre|jamás|sempre)\b|\ba\s+partir\s+de\s+(?:ahora|agora)\b|\bd['’]ora\s+in\s+poi\b"
    r"|\bde\s+(?:agora|ahora|ora)\s+(?:em\s+diante|en\s+adelante|in\s+poi)\b|^(?:por\s+favor,?\s+)?(?:deja|dejad|deje|deixa|deixe"
    r"|para|pare|smetti\w*)\s+d[ei]\s+\w+r",
    r"\bhay\s+que\s+\w+r\b|\b(?:prohibido|proibido|vietato)\b|\bdeb(?:es|en)\s+\w+r\b|\bdevem?\s+(?!ser\s+um)\w+r\b"
    r"|\bdev(?:i|ono|ete)\s+(?:\w+\s+)?\w+re\b|^(?:no|não)\s+quero\b|\b(?:pregunt|pergunt)[ea]\w*\s+.*\bantes\b|^rimani\s"
    r"|(?:^|[,;:]\s*)non\s+\w+(?:are|ere|ire)\b|^(?:usa|use|usad|lavora|modifica|edita)\s+(?:solo|sólo|soltanto|só|apenas|somente)\b",
    r"^(?:por\s+favor,?\s+)?(?:no|não|non)\s+(?:lo\s+|la\s+)?(?:hagas|uses|usar|use|toques|tocar|toque|cambies"
    r"|cambiare|modificare|mude|borres|añadas|faça|fare|mexa|altere|committare|subas|crees)\b"
    r"|\bevita\b|\bsiempre\s+en\b|\ben\s+lugar\s+de\b|\bem\s+vez\s+de\b|\binvece\s+di\b|\bte\s+dije\b|\best[áa]\s+mal\b"
    r"|\bnon\s+devi\b|\bmai\s+\w{4,}",
    r"^(?:no|não)\s*[,.:;!–—-]\s*\w.{6}",
    r"^(?:reglas?|regras?|regol[ae])\b[^.:]{0,40}:|\bcongela[dt][oaie]s?\b.{0,40}\b(?:no|nada|niente|nunca)\b"
    r"|\bantes\s+de\s+(?:que|cada)\s+\w+|\bsin\s+(?:preguntarme|mi\s+\w+|avisar)|\bya\s+no\s+\w+|\bsem\s+me\s+\w+",
    # Russian
    r"^нет\s*[,.:;!–—-]\s*\w.{6}|\bпрежде\s+чем\b|\bперед\s+каждым\b",
    r"(?:^|[,;:–—-]\s*|\b(?:и|но|пожалуйста)\s+)(?:никогда\s+)?не\s+(?!мог|ест)\w+(?:[йь]|йте|ьте|(?<!л)и|ите)\b"
    r"|\bвсегда\s+(?!есть)\w+(?:[йь]|йте|ьте|(?<!л)и|ите)\b|\bс\s+этого\s+момента\b|\bтеперь\s+только\b|\bнельзя\b|\bзапрещ\w+"
    r"|^\w+(?:й|йте|(?<!л)и|ите)\s+(?:только|лишь|всегда)\b|\bдолж(?:ен|на|ны|но(?!\s+быть))\b",
    r"^никогда\s+не\s+(?!\w+(?:т|л|ла|ли|ло|ю|у)\b)\w|\b(?:никогда\s+\w+ть|отныне|впредь|обязательно|ни\s+в\s+коем\s+случае)\b"
    r"|\bне\s+(?:надо|нужно|используй|трогай|делай|меняй|удаляй|коммить|пиши|добавляй)\w*\b"
    r"|\bтолько\s+не\b|\bя\s+(?:же\s+)?сказал\w*\b",
    # General forms, by language: prohibitions, things to keep, tasks of the user
    r"(?:^|[,;:–—-]\s*|\b(?:and|but|so|please|kindly)\s+)no\s+(?:(?:more|new)\s+)?(?!idea\b|clue\b|problem"
    r"|worr|bother|rush\b|hurry\b|thanks\b|matter\b|wonder\b|luck\b|doubt\b|response|output|errors?\b|results?\b"
    r"|one\b|its\b|it\b|thats\b|that\b|need\b|way\b|longer\b|funciona|queda|tengo\b|hay\b|entiendo|aparece|encuentr|carga\b|sale\b|puedo|veo\b)[a-z]{3}",
    r"(?:^|[,;:–—-]\s*|\bso\s+)nothing\s+(?!in\s+(?:the|my)\s+(?:console|logs?|output|terminal|network)\b|happen|chang|work|show|c[oa]me|is\s+(?:shown|logged|written))\w"
    r"|^only\s(?!.*\b(?:fail|crash|load(?:s|ed)|shown|visible|work|happen|broke|break|pass)\w*\b)",
    r"\bhands\s+off\b|\btaboo\b|\bno\s+exceptions?\b|\bwithout\s+exception\b|\bunder\s+no\s+circumstances\b"
    r"|\brefrain\s+from\b|\bread-only\b|\bin\s+mind\b|\bi\s+(?:do\s+not|don['’]?t|only)\s+want\b|\bi['’]?d\s+rather\b",
    r"\b(?:has|have|needs?)\s+to\s+(?:stay|remain|keep|continue|be|pass|support|match)\b|\b(?:stays?|remains?)"
    r"\s*(?:[.,;!]|$|(?:as|on|where|in\s+place|private|public|compatible|un\w+)\b)",
    r"(?:^|[,;:–—-]\s*|\bplease\s+)keep\s+(?!me\b|going\b|on\b|up\b|at\b|\w+ing\b)\w"
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
    # Dutch
    r"\b(?:vanaf\s+nu|voortaan)\b|^(?:\w+,\s+)?(?:raak|kom|gebruik|commit|push|merge|verwijder|wijzig|verander|schrijf|maak|voeg"
    r"|installeer|start|laat|pas|zet)\s+(?:.{0,60}\s)?(?:niet|nooit|geen|niets|alleen|altijd)\b|\b(?:nooit|altijd)\s+(?:\w+\s+){0,3}\w+en[.!]?$"
    r"|\bvraag\s+(?:het\s+)?(?:me|mij|eerst|altijd)\b|\b(?:mag|mogen)\s+.{0,40}\b(?:niet|nooit|geen)\b|\bmoeten\s+\w",
    # Polish
    r"\bod\s+teraz\b|(?:^|[,;:–—-]\s*|\b(?:i|ale|proszę)\s+)(?:nigdy\s+)?nie\s+(?:\w+j(?:cie)?|rób|pisz|usuń|zmień|twórz|kasuj)\b"
    r"|\bzawsze\s+\w+j(?:cie)?\b|^\w+j(?:cie)?\s+(?:tylko|zawsze|wyłącznie)\b|\bnie\s+wolno\b|\bnależy\b|\b(?:muszą|musisz)\s+\w",
    # Verbs of keeping, and `use` with a noun without an article
    r"(?:^|[,;:–—-]\s*|\b(?:please|bitte)\s+)(?:stay\s+(?:away|out|off|on|in|within|with)|treat|pin|preserve|respect|adhere\s+to|conform\s+to"
    r"|behalt|belass|behandel|respektier|halte?\s+(?:dich|die|den|das|alle)|garde[zr]?|conserve[zr]?|respecte[zr]?|laisse[zr]?|mant[ée]n(?:ga)?|conserva"
    r"|respeta|respete|mantieni|rispetta|resta|lascia\s+(?:stare|\w+\s+\w+\s+com)|mantenha|mantém|respeite|houd|blijf|bewaar|trzymaj|zachowaj|zostaw"
    r"|держи|сохраняй|соблюдай|оставь|оставляй)\w*\s+\w|\bleave\s+(?:it|them|that|those)\s*[.!]?$",
    r"^(?:please\s+)?use\s+(?!(?:the|this|that|these|those|my|your|it|a|an)\b)(?!.*\s(?:to|and|for|in)\s)\S+(?:\s+\S+){0,3}$"
    r"|^(?:bitte\s+)?(?:nutze?|verwende|benutze)\s+(?!(?:de[rnms]|die|das|dies\w*|mein\w*|dein\w*|ein\w*)\b)\S+(?:\s+\S+)?$",
    r"^(?:any|not\s+(?:a\s+single|one|more\s+than))\s+\w|^at\s+most\s|,\s*so\s+at\s+most\s|\bwith\s+(?:every|each)\s+(?:change|commit|step|fix|release|pr)\b"
    r"|\bbefore\s+(?:handing|committing|pushing|merging|deleting|opening|installing)\b|\b(?:fine|ok|okay)\s+to\b.*\bbut\s+not\b"
    r"|^(?:i|we)\s+(?:want|like|need)\s+(?:every|each|all|one|no)\b|^i\s+(?:prefer|hate|(?:don['’]t|do\s+not)\s+like)\s|,\s*i\s+hate\b",
    r"^ich\s+(?:will|möchte)\s.*\bjede\w*\s|^je\s+veux\s+.*\b(?:chaque|tous|toutes|aucun\w*)\b|^quiero\s.*\b(?:todo\w*|toda\w*|cada)\b|\bso\s+lassen\b"
    r"|\bgehör(?:t|en)\s+(?:nach|in|unter|zu)\s|\bsans\s+mon\s|\bsem\s+(?:minha|meu|a\s+minha|o\s+meu)\s|\bsenza\s+(?:il\s+mio|la\s+mia|chiedere)\b"
    r"|\bzonder\s+(?:mijn|te\s+vragen)\b|\bbez\s+(?:mojej|mojego|pytania)\b|\bбез\s+(?:моего|моей|спроса)\b",
    # One program instead of another, rules of a project, and things that the user does not want
    r"(?:^|[,;:–—-]\s*|\b(?:so|and|please|just|then)\s+)(?:call|run|take|import|invoke|go\s+through)\s+\S.{0,60}?"
    r"\s(?:instead\s+of|rather\s+than|and\s+not)\b"
    r"|^(?:here|in\s+(?:this|our)\s+(?:repo(?:sitory)?|project|code\s?base|monorepo))\b.*\b(?:is|are)\s+(?:always|never|only)\s"
    r"(?!.*\b(?:fail\w*|slow\w*|broken|empty|wrong|null|late|red|stale)\b)",
    r"\b(?:also|und|aber|deshalb|daher|darum)\s+keine?[nrms]?\s+(?!ahnung|idee|problem|sorge|wunder|grund|fehler|meldung)\w{2}"
    r"|[,;:]\s*ge\w+(?:t|en)\s+wird\s.*\b(?:nicht|nichts|nie|nur|kein\w*|immer|erst)\b"
    r"|\b(?:je\s+ne\s+veux\s+(?:pas|plus|aucun)|ik\s+wil\s+(?:geen|niet)|nie\s+chcę|не\s+хочу|non\s+vogli(?:o|amo))\b",
    r"\blasci(?:a|ate|alo|ala|ali|ale)\s+stare\b|[,;:]\s*(?:usa|use|lavora|modifica|tocca|cambia)\s+(?:solo|sólo|soltanto|sempre)\b"
    r"|\b(?:va|vanno)\s+(?!pers|perdut)\w+(?:at|ut|itt|ess|ost)[oaie]\b",
    r"\bpo\s+(?:angielsku|polsku)\b|\bin\s+(?:inglese|italiano)\b|\bem\s+(?:inglês|português)\b|\bна\s+(?:английском|русском)\b",
    # Conditions on the agent's own work, rules for next time, and the user's consent
    r"^(?:if|when|whenever|wherever)\s+(?:you|we)(?:['’]re)?\s+(?:ever\s+|have\s+to\s+|need\s+to\s+|want\s+to\s+)?(?:change|touch|add|edit|write|rename"
    r"|modify|create|delete|remove|introduce|need|hit|get\s+stuck|(?:are\s+)?(?:unsure|not\s+sure|stuck|about\s+to))\b.*,"
    r"|^if\s+.*,\s*(?:please\s+)?(?:ask|tell|ping)\s+me\b|^next\s+time\b|\bdo\s+not\s+wait\s+for\s+me\b|,\s*always\s*,",
    r"\b(?:get|need|have|want|with|until|without)\s+(?:\w+\s+){0,3}(?:my|our)\s+(?:explicit\s+)?(?:ok(?:ay)?|approval|sign-?off|go(?:-ahead)?|permission|consent)\b"
    r"|\b(?:is|are)\s+not\s+(?:fine|ok(?:ay)?|cool)\s+to\b|\b(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:stop|quit|always|never|not)\s+\w"
    r"|^i\s+want\s+.*\bin\s+(?:this|our)\s+(?:code\s?base|repo\w*|project)\b|\bi\s+want\s+you\s+to\s+(?:always|never|only|ask|keep|stop)\b|\b(?:gets?|is|are)\s+(?:rejected|forbidden|banned)\b",
    r"(?:^|[,;:.!–—-]\s*)(?:\w+\s+){1,3}only\s*(?:[.,;!]|$)(?<!works\sonly)(?<!fails\sonly)"
    r"|\bunless\s+i\s+(?:say|tell|ask)\b|\buntil\s+\w+\s+(?:has|have)\s+(?:signed|approved|reviewed)\b",
    r"\bich\s+(?:will|möchte)\s+(?:\w+\s+){0,2}nicht\b|\bfrage?t?\s+(?:lieber\s+|bitte\s+|erst\s+)?(?:nach|mich|vorher|erst|zuerst)\b|\b(?:mir|uns)\s+ist\s+(?:\w+\s+)?wichtig\b"
    r"|\bnächstes\s+mal\b|^wenn\s+du\s.*,\s*(?:frag|sag|melde|lass|änder|schreib)\w*\b|\bohne\s+(?:mein|unser)\b|\bbescheid,?\s+bevor\b",
    r"\bà\s+l['’]avenir\b|\b(?:demande|préviens|avertis)[\s-]moi\b.*\b(?:avant|si|quand)\b|\bavant\b.*\b(?:demande|préviens|avertis)[\s-]moi\b|\bla\s+prochaine\s+fois\b"
    r"|\bje\s+préf[èe]re\w*\s+qu|\bmerci\s+de\s+(?:ne\s|toujours)|[,;]\s*(?:ne\s|n['’])(?!t['’]inqui)\w+.{0,30}\b(?:pas|plus|rien|aucune?|jamais)\b|\btant\s+que\s+je\b"
    r"|^(?:si|quand)\s+tu\s.*,\s*(?:demande|préviens|mets|ajoute|lance)\b|^n['’]oublie\s+pas\b",
    r"\bno\s+vuelvas?\s+a\b|\bavísame\b.*\bantes\b|\bantes\b.*\bavísame\b|\bprefiero\s+que\b|\ben\s+adelante\b|\bla\s+próxima\s+vez\b|\bque\s+me\s+(?:preguntes|avises)\b"
    r"|\bno\s+se\s+(?:toca|modifica|cambia|borra|usa|sube|edita)n?\b|^(?:si|cuando)\s+(?:cambi|toc|añad|modific|cre|edit)[ea]s\s.*,",
    r"\bnon\s+si\s+(?:tocc|modific|cancell|cambi|usa|elimin|fa\b|fanno\b|committ)\w*|\bprima\s+di\s+(?:ogni|qualsiasi)\b|\bprima\s+di\s+.*\bavvisa(?:mi|temi)\b|\bmi\s+raccomando\b"
    r"|\bpreferisco\s+che\b|\bla\s+prossima\s+volta\b|\bin\s+futuro\b|\bchied(?:i|imi|ermelo)\s+.*\bprima\b|\bsenza\s+chieder\w*|^se\s+(?:modifich|cambi|tocch|aggiung)i\s.*,",
    r"\bprefiro\s+que\b|\bda\s+próxima\s+vez\b|\bdaqui\s+(?:para|em)\b|\bno\s+futuro\b|\bantes\s+de\s+(?:cada|qualquer)\b|\bnão\s+se\s+(?:mexe|toca|altera|muda|usa|apaga)\w*"
    r"|^(?:se|quando)\s+(?:alterares|mudares|mexeres|mudar|alterar)\s.*,",
    r"\bбольше\s+не\s+\w+(?:й|йте|ь|ьте|и|ите)\b|\bв\s+следующий\s+раз\b|\bvolgende\s+keer\b|\bnastępnym\s+razem\b",
    # Conventions of a project, work of other people, and mistakes that the agent repeats
    r"\bkeep(?:s)?\s+(?:seeing|finding|telling)\s+you\b|\bone\s+(?:\w+\s+)?per\s+\w+|^(?:for|in)\s+(?:this|our)\s+(?:repo\w*|project|code\s?base|branch)\s*:"
    r"|\bwe\s+(?:can['’]?t|cannot|mustn['’]?t)\s+(?:break|change|touch|drop|remove|rename|use|add|upgrade|migrate|ship|merge|push|afford|rely|introduce)\b",
    r"^(?:just\s+)?let\s+me\s+(?:do|handle|deal\s+with|take\s+care\s+of|run|make)\s+(?:the|all|any)\s+\w+s\b|\buntouchable\b|^be\s+(?:\w+\s+)?(?:terse|brief|concise|conservative|explicit|strict)\b"
    r"|\b(?:our|the)\s+(?:reviewers?|team|maintainers?)\s+(?:rejects?|refuses?|requires?|expects?|insists?)\b|\b(?:the|our|my|one)\s+rule\s+is\b|\bthat['’]?s\s+the\s+(?:second|third|\w+th)\s+time\b",
    r"\bleave\s+\w+(?:\s\w+)?\s+be\b|^use\s+.{1,40}\bfor\s+(?:everything|all)\b|\b(?:all|alle)\s+\w+\s+(?:go|live|come|belong|gehen|kommen|liegen|gehören)\s+(?!red\b|wrong\b|missing\b)\w"
    r"|\bone\s+change\s+at\s+a\s+time\b|\bhow\s+we\s+(?:work|do\s+(?:it|things))\s+here\b",
    r"^ich\s+(?:mag|hasse)\s+keine?\b|\bso\s+(?:arbeiten|machen)\s+wir\b|\beine?[rns]?\s+(?:\w+\s+)?pro\s+\w+|\bohne\s+(?:absprache|freigabe|ticket|rücksprache)\b|\blass\s+.{1,60}\bin\s+ruhe\b"
    r"|^wenn\s+.*,\s*(?:dann\s+)?(?:hör|stopp|halt|frag|sag|melde)\w*\b|\bno\s+me\s+gustan\s+(?:los|las)\b|\bje\s+n['’]aime\s+pas\s+les\b|\buno?\s+por\s+\w+",
    r"\blaisse[zr]?\s+.{1,60}\btranquille\b|\bdeja\s+.{1,60}\b(?:en\s+paz|como\s+está)\b|^(?:si|quand)\s.*,\s*(?:tu\s+(?:t['’]arrêt|demand|prévien|me\s)|arrête|préviens|dis-le)"
    r"|^(?:si|cuando)\s.*,\s*(?:para\s+y|avísame|pregunta|dime)\b|^se\s.*,\s*(?:fermati|avvisami|chiedi|dimmi|avisa|pergunta|diz-me)\b|^if\s.*,\s*(?:stop|let\s+me\s+know)\b",
    r"\bno\s+(?:cree|use|toque|modifique|agregue|borre|cambie|haga|suba|instale)\b|^(?:please\s+)?follow\s+(?:tdd\b|(?:the|our)\s+(?:\w+\s+)?(?:style|conventions?|guidelines?|naming)\b)",
    # Points at which the agent must stop, ask or wait for the user
    r"(?:^|[,;:–—-]\s*|\b(?:and|then|so|please|just|but)\s+)(?:stop|halt|pause)\s+(?:after\s+(?:(?:the|that|this|each|every|your)\s|(?:step|part|phase|task)\b|\w+ing\b)"
    r"(?!.*\b(?:attempt|tr(?:y|ies)\b|retr|second(?:s\b|\s*[.,;!]|$)|minute|timeout|error|fail|match|hit|row|line|byte|record|element|item|request|response|page)\w*)"
    r"|(?:there|here)\s*(?:[.,;!]|$|and\b)|and\s+(?:wait\s+for|ask|show|let)\s+(?:me|my)\b)",
    r"\blet\s+me\s+(?:(?:have|take)\s+a\s+(?:\w+\s+)?look|look|check|review|read|approve|test)\b.{0,80}(?:\bbefore\s+(?:\w+ing\b|it\b|they\b|that\b|this\b|any\w*|the\b|we\b)|\bfirst\s*[.!]?$)"
    r"|(?:^|[,;:–—-]\s*|\b(?:and|then|please|just|but)\s+)wait\s+(?:until|till)\s+i(?:['’]ve|\s+have|\s+(?:say|tell|approve|review|check|look|confirm|agree)\w*)\b",
    r"(?:^|[,;:–—-]\s*|\b(?:und|dann|bitte)\s+)(?:(?:stopp?e?|halte?)\s+(?:bitte\s+)?nach\s+(?:de[rmn]|jede[rmn]|diese[rmn])\s|mach\w*\s+(?:bitte\s+)?nach\s+.{1,60}\b(?:halt|schluss|pause)\b"
    r"|hör\w*\s+(?:bitte\s+)?nach\s+.{1,60}\bauf\b)(?!.*(?:ausschau|versuch|sekunde|minute|fehler|treffer|zeile|eintr[aä]g|anfrage|antwort))",
    r"\blass\s+mich\s+(?:\w+\s+){0,4}(?:zuerst|erst|vorher)\s+(?!mal\b)(?:\w+\s+){0,3}\w*(?:schauen|sehen|gucken|prüfen|lesen|testen)\b|\bfrag\w*\s+mich\s+(?:vor|zuerst\b|erst\b)"
    r"|(?:^|[,;:–—-]\s*|\b(?:und|dann|bitte)\s+)warte?\s+(?:bitte\s+)?(?:auf\s+(?:mich|mein\w*)\b|(?:,\s*)?bis\s+ich\b)|\bwarte,\s+bis\s+ich\b",
    r"(?:^|[,;:–—-]\s*|\b(?:y|luego|favor,?)\s+)(?:p[aá]rate|det[eé]nte|deténgase|haz\s+una\s+pausa)\s+(?:después\s+de|tras|al\s+(?:terminar|acabar)|cuando\s+(?:termines|acabes))\b|^para\s+después\s+de\s+(?:la|el)\s+(?:primer|segund|tercer)\w*"
    r"|\bd[eé]jame\s+(?:ver|mirar|revisar|comprobar|leer|probar|echar)\w*\b.{0,80}\b(?:antes\s+de|primero\s*[.!]?$)|\bpreg[uú]nt[ae]me\b.{0,40}\b(?:antes|primero)\b|\besp[eé]ra(?:me\b|\s+(?:a\s+)?mi\s|\s+a\s+que\s+(?:yo|lo|te)\b)",
    r"\basí\s+(?:trabajamos|lo\s+hacemos)\b|\bcosì\s+si\s+fa\b|\bassim\s+(?:é\s+que\s+)?trabalhamos\b|\bzo\s+werken\s+we\b|\bc['’]est\s+comme\s+ça\s+qu",
)
EAST_ASIAN_ORDERS = (
    # Chinese, Japanese, Korean
    r"不要|不许|不准|禁止|务必|必须|永远(?:不要|别|用)|一定要|从现在(?:开始|起)|别再|不能再|不對|不对"
    r"|千万别|切勿|始终(?:使用|用|保持)|请勿|不得|^别|以后.*[都要请]|每次(?:修改|提交|改|推送|你).*(?:都要|都得|先)|^只(?:能|准|允许|用)",
    r"しないで|使わないで|ないでください|してはいけない|必ず(?!.*(?:失敗|エラー))|絶対に|今後は|常に(?!.*(?:失敗|エラー|落ち|遅い))"
    r"|これから(?:は|ずっと)|ないこと|だけを?使|のみを?使|ないで[。！]?$|禁止|やめて(?:ください)?|べきではない",
    r"保持|保留|遵守|统一|統一|維持|没有我的|未经我|(?:用|使用)(?:中文|英文|英语)"
    r"|(?:コメント|メッセージ|文書|返信|回答|説明).*(?:日本語|英語)で",
    r"하지\s?마|절대로?|항상|반드시|앞으로는|금지|쓰지\s?마",
)
EAST_ASIAN_STATEMENTS = (
    r"(?:ボタン|画面|フォーム|メニュー|ページ|ユーザー|一覧|ダイアログ).*(?:表示|され|なる|なら|動)",
    r"^(?:这个|那个)?(?:按钮|页面|表单|菜单|列表|用户|弹窗|窗口).*(?:不|要|显示)",
)
CORRECTIONS = (
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
    # `…, not X` at the end of a sentence
    r",\s*not\s+(?!sure\b|yet\b|really\b|only\b|too\b|any\s?more\b)(?:\w+\s+){0,2}\S+$|,\s*nicht\s+(?!dass\b|wahr\b|sicher\b|mehr\b)(?:\w+\s+){0,2}\S+$"
    r"|,\s*(?:y\s+)?no\s+(?:en\s+|el\s+|la\s+)?[^\s,]+$|,\s*(?:et\s+)?pas\s+(?:en\s+|le\s+|la\s+)?[^\s,]+$",
)
_PRODUCT = (
    r"(?:button|dialog|modal|popup|field|form|menu|page|screen|list|table|dropdown|tooltip|icon|spinner|toast|banner|header|footer"
    r"|sidebar|window|cursor|users?|customers?|visitors?|server|client|worker|queue|cache|retry|parser|request|response|timer|session"
    r"|cookie|counter|checkbox|chart|cell|card|link|image|row|logo|endpoint|job|score|price|total"
    r"|knopf|schaltfläche|fenster|feld|formular|menü|seite|liste|tabelle|benutzer|nutzer|anfrage|antwort|dienst|zähler"
    r"|bouton|fenêtre|champ|formulaire|liste|tableau|utilisateur|serveur|requête|réponse|compteur"
    r"|botón|ventana|campo|formulario|menú|página|lista|tabla|usuario|servidor|petición|respuesta|contador|sesión"
    r"|pulsante|bottone|finestra|modulo|pagina|tabella|utente|richiesta|risposta|contatore|sessione"
    r"|botão|janela|formulário|tabela|utilizador|pedido|resposta|sessão|knop|venster|veld|pagina|lijst|gebruiker)"
)
"""Parts of a program. A sentence about such a part says what to build, not how to work."""
_ARTICLE = (
    r"(?:the|this|that|an?|der|die|das|den|dem|ein|eine|einen|le|la|les|l['’]|un|une|el|los|las"
    r"|una|il|lo|gli|o|a|um|uma|het|de|een)"
)
STATEMENTS = (
    # Messages of programs, and quotes from documents
    r"^\W*(?:\w*(?:error|exception)|warning|fail(?:ed|ure)?|fatal|panic)\s*:"
    r"|\b(?:docs?|documentation|manual|error|log|message|compiler|linter|screen|page|it)\s+(?:says?|said|states?|reads?|prints?|shows?)\b",
    # Features to build, described in a relative clause
    r"^(?:(?:please|bitte|now|then|and|ok(?:ay)?),?\s+)*(?:add|write|implement|create|build|validate|show|render|display|bau\w*|füge?|ergänze?"
    r"|zeige?|erstelle?|ajoute[zr]?|affiche[zr]?|añade|crea|muestra|aggiungi|mostra|adicione|crie|voeg|dodaj|добавь|покажи)\s"
    r"[^.;:]{1,80}?(?:\b(?:that|which|who|where|so\s+that|dass|qui|que|che|waarbij|która|который|которая|которое)\b"
    r"|,\s+(?:der|die|das)\b|\b(?:visible|sichtbar)\b)|^implement\s",
    # Statements of people about what happens
    r"^(?:i|we)\s+(?:think|guess|wonder|suppose)\b|^(?:users?|customers?|admins?|people|clients?)\s+(?:can|cannot|can['’]t)\b"
    r"|\b(?:kommt|kommen)\s+(?:\w+\s+)?(?:nie|immer)\b",
    r"\b(?:it|this|that|there|he|she|problem|bug|cause|reason|issue)\s+(?:must|has\s+to)\s+(?:be|have)\b|\bmust\s+have\s+(?:been|\w+ed)\b",
    r"^(?:ich|mir|je|j['’]|yo|io|eu|ik|ja|я)\s(?!.*\b(?:will|möchte|wollte|sagte|gesagt|meinte|darf|geirrt|vertan|veux|dit|quiero|voglio"
    r"|quero|wil|chcę|хочу|сказал\w*|ошиб\w+|передумал\w*|mag|hasse|n['’]aime|me\s+suis\s+tromp\w+|voulais|quise|quería"
    r"|wichtig|préf[èe]re\w*|prefiero|preferisco|prefiro)\b)",
    r"\b(?:geht|läuft|klappt|funktioniert|schlägt|bricht|endet|erscheint|passiert|hängt|fehlt|lädt|antwortet)\s+(?:\w+\s+)?(?:nie|immer|niemals)\b"
    r"|\bkeine\s+ahnung\b|^keine[rs]?\s+.{1,60}\b(?:lädt|geht|läuft|klappt|funktioniert|antwortet|erscheint)\b|\b(?:nur|noch)\s+(?:ein|eine|noch\s+ein)\s+\w+\s+(?:ist|sind|fehlt|schlägt)\b",
    r"^(?:(?:le|la|les|ce|cette|ça|cela|il|elle|ils|elles)\s|l['’])(?!.*\b(?:doi(?:t|vent)|faut|reste\w*|peu(?:t|vent))\b).*\b(?:jamais|toujours)\b",
    r"^(?:el|la|los|las|o|a|os|as|il|lo|i|gli|le|esto|eso|isso|questo)\s(?!.*\b(?:deb\w+|deve\w*|devono|tienen?\s+que|hay\s+que|puede\w*"
    r"|può|pode\w*|qued\w+)\b).*\b(?:nunca|siempre|jamás|sempre|mai)\b",
    r"\bno\s+(?:sé|te\s+preocupes)\b|\b(?:falla|funciona|pasa|sale|aparece|ocurre|acontece|succede|esce)\w?\s+(?:siempre|sempre)\b"
    r"|^(?:siempre|sempre|nunca|mai)\s+(?:(?:me|se|mi|si)\s+)?(?:sale|pasa|aparece|falla|funciona|da|hay|ocurre|acontece|esce|succede|lo\s+mismo)\b"
    r"|\b(?:deve|deben?)\s+(?:essere|ser)\s+(?:una?|um)\b|\bnon\s+(?:funziona|capisco|so)\b",
    # Earlier states, and unexpected results
    r"^(?:we|i|they|he|she|it|you|there|that|this)\s+used\s+to\b(?!.*\bnow\b)"
    r"|\b(?:should|could|would|might)(?:n['’]t)?\s+(?:\w+\s+)?have\s+(?:been|gone|done|run|come|made|had|got|lost|sent|left|\w+ed|\w+en)\b"
    r"|\b(?:ho|hai|ha|abbiamo|hanno|è|sono|era\w*|avev\w+)\s+(?:mai|sempre)\b|\b(?:he|ha|hemos|han|hab[ií]a\w*)\s+(?:nunca|siempre)\b"
    r"|\b(?:nunca|siempre|jamás)\s+(?:he|ha|hemos|han|hab[ií]a\w*)\b|\b(?:hat|haben|habe|war|waren)\s+(?:\w+\s+)?(?:nie|niemals|immer)\b",
    # Behaviour of the product for its users, and requests to look at something
    r"^(?:if|when|wenn|falls|sobald|se|quando|si|cuando|quand)\s+(?:the|an?|de[rnms]|die|das|eine?[nrms]?|il|la|lo|una?|el|le|une|um|o)?\s*"
    r"(?:l['’])?(?:user|customer|client|visitor|request|page|form\b|button|b?e?nutzer|kunde|besucher|anfrage|seite|utente|usuario|utilisateur)",
    r"[,;–—-]\s*(?:bitte\s+)?(?:sieh|schau|guck)\w*\s+(?:dir\s+)?(?:das|es|mal)\b|\b(?:find\s+out|look\s+into|figure\s+out)\s+why\b"
    r"|[,;]\s*(?:guarda|controlla|mira|regarde|olha)\s+(?:cosa|perché|por\s*qu[eê]|qué|pourquoi|o\s+que)\b"
    r"|[,;]\s*(?:bau|setz|implementier|programmier)\w*\s+(?:das|es|dies)\b|[,;]\s*(?:please\s+)?(?:implement|build)\s+(?:that|this|it)\b",
    r"^(?:add|baue?|ergänze|füge?|implementiere|aggiungi|implementa|metti|añade|agrega|pon|ajoute|mets|adicione)\s+(?:\w+\s+){0,2}(?:check|validation"
    r"|warning|message|button|prüfung|validierung|warnung|meldung|hinweis|controllo|validazione|verifica|avviso|messaggio|pulsante"
    r"|comprobación|validación|aviso|mensaje|botón|contrôle|vérification|avertissement|bouton|verificação|validação)\b",
    r"^(?:der|die|das|diese[rs]?|unsere?|meine?)\s+\w+\s+(?!muss|darf|soll|bleibt|wird|gehört|kommt)\w+t\s+(?:\w+\s+)?(?:immer|nie|niemals|stets)\b",
    r"\bhet\s+werkt\b|\bwerkt\s+(?:\w+\s+)?(?:nooit|niet)\b",
    # Behaviour of the program, and single tasks
    rf"^(?:and\s+|so\s+|only\s+|also\s+)*(?:{_ARTICLE}\s*)?(?:\w+\s+)?{_PRODUCT}\s+(?:should|must|has\s+to|have\s+to|needs?\s+to|may|can|shall|is|are|soll|sollte|darf|muss|dürfen|müssen"
    r"|doit|doivent|ne\s|peut|debe|deben|no\s|nunca|siempre|tiene|deve|devono|non|não|sempre|pode|mag|moet)\b",
    rf"^(?:from\s+now\s+on|ab\s+(?:jetzt|sofort)|désormais|dorénavant|a\s+partir\s+de\s+(?:ahora|agora)|d['’]ora\s+in\s+poi|de\s+agora\s+em\s+diante|voortaan),?\s+(?:\w+\s+)?"
    rf"(?:{_ARTICLE}\s*)(?:\w+\s+)?{_PRODUCT}\b",
    rf"^(?:please\s+|bitte\s+|por\s+favor,?\s+)?(?:mach|make|sorge?|haz|fai[st]|fa|faz|zorg)\s+(?:(?:bitte|dafür|sure)\s*)*,?\s*(?:that|dass|que|en\s+sorte\s+que|che|com\s+que|dat)?\s*"
    rf"(?:{_ARTICLE}\s*)(?:\w+\s+)?{_PRODUCT}\b",
    rf"^(?:when|if|whenever|wenn|falls|sobald|quand|lorsque|si|cuando|quando|se)\s.{{1,60}},\s*(?:{_ARTICLE}\s*)(?:\w+\s+)?{_PRODUCT}\b",
    r"^(?:(?:please|can\s+you|could\s+you|bitte|por\s+favor),?\s+)*(?:explain|describe|tell\s+me|summari[sz]e|find\s+out|think\s+about|erklär\w*|beschreib\w*|explique[zr]?|explica\w*|spiega\w*)\s"
    r".*\b(?:why|how|what|whether|if|where|when|which|warum|wie|was|ob|weshalb|pourquoi|comment|por\s*qu[eé]|c[oó]mo|perché|come|porque|porquê)\b",
    r"\b(?:don['’]?t|do\s+not|not)\s+(?:\w+\s+){0,4}(?:yet|right\s+now|just\s+now)\b|\b(?:right\s+now|at\s+the\s+moment|currently|momentan|derzeit|actualmente|actuellement|atualmente)\b"
    r"|\bfirst\s+get\b|\bnoch\s+nicht\b|\b(?:todavía|aún)\s+no\b|\bpas\s+encore\b|\bnon\s+ancora\b|\bainda\s+não\b",
    r"^make\s+sure\s+(?:it|this|that|everything|all)\s+(?:still\s+|really\s+|actually\s+)?(?:works?|runs?|compiles?|builds?|passes|is\s+(?:ok|fine|correct|right))\b|\band\s+then\s+(?:open|push|merge|commit|continue|tell|show)\b",
    r"\b(?:está|estão|anda|andam|están)\s+(?:siempre|sempre|nunca)\b|^without\s+(?:having|needing)\b|\bneed(?:s|ed)?\s+to\s+(?:be\s+able\s+to|know|see|understand)\b"
    r"|^(?:add|make|move|put|create|set|change|update)\s.*\bso\s+(?:that\s+)?(?:it|they|we|i|you)\b|\ball\s+.{1,60}\bhave\s+(?:been|\w+ed)\b",
    rf"^(?:when|if|whenever|wenn|falls|sobald|quand|lorsque|si|cuando|quando|se)\s+(?:{_ARTICLE}\s*)(?:\w+\s+)?{_PRODUCT}\b|\baccording\s+to\b",
    r"^(?:and\s+|but\s+)?i\s+(?:don['’]?t|do\s+not)\s+want\s+to\s+(?!see\b|have\b|find\b|read\b|lose\b)|^i\s+only\s+(?:ever\s+)?(?:see|get|have|saw|got)\b"
    r"|\bfrüher\b|^(?:avant|auparavant)\s+(?:on|nous)\b|^antes\s+(?!de\b)|^prima\s+(?!di\b)|^vroeger\b|^раньше\b",
    r"[,;–—-]\s*(?:please\s+|bitte\s+)?(?:(?:can\s+you\s+)?(?:please\s+)?fix|corrige|arréglalo|corrígelo|sistema|correggi|conserta|behebe?|korrigiere?)\b",
    # Questions, guesses, and abilities of a program
    r"^(?:is|are|does|did|was|were|has|why|what|how|where|which|who|should)\s+(?:it|this|that|the|there|you|we|i|he|she|they|one|someone|somebody)\b(?!.*[.:])|^(?:warum|wieso|weshalb|por\s+qué|pourquoi|est-ce)\b"
    r"|^(?:it\s+)?(?:looks|seems|sounds)\s+like\b|[,;–—-]\s*(?:can|could)\s+you\s+(?:please\s+)?(?:check|look|find|see|fix|add|change)\b|^just\s+(?:commit|push|merge|run)\s",
    rf"^(?:{_ARTICLE}\s*)\w+\s+(?:must|should|has\s+to|needs\s+to|muss|sollt?e?|doit|debe|deve)\s+(?:support|accept|handle|return|show|display|contain|include|open|close|appear|send|receive|store|load|print"
    r"|unterstützen|annehmen|zeigen|enthalten|afficher|accepter|mostrar|aceptar|mostrare|accettare|aceitar)\b|\bstays?\s+(?:as\s+it\s+was|the\s+same|empty|blank)\b|\b(?:gets?|got)\s+(?:updated|loaded|shown|rendered|called|saved)\b(?!\s+(?:by|with|via|through)\b)",
    r"^(?:after|before)\s+(?:each|every)\s+\w+,?\s+(?:the|it|my|all)\s+(?:\w+\s+){0,2}(?:is|are|was|were|gets?|has|have|goes|go|fails?|crash\w*)\b|^no\s+(?:hace|responde|abre|guarda|muestra|arranca|compila|conecta|encuentra)\b",
)
