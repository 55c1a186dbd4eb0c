"""Taking out of a turn what its speaker did not say."""

import re

from memory_server.domain.formats import without_memory

_INJECTED = re.compile(
    r"<memory_context\b[^>]{0,200}>.*?(?:</memory_context\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_INJECTED_SECTION = re.compile(
    r"^(?P<mark>#{1,6})[ \t]*(?:memory\b|what is remembered\b)[^\n]*\n"
    r".*?(?=^(?!(?P=mark)#)#{1,6}[ \t]|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_CODE_BLOCK = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_RECALLED = re.compile(
    r"^[ \t]*[\[(<*#_-]*[ \t]*(?:(?:relevant|related|retrieved|recalled|long-term|stored|saved"
    r"|previous|past|known|user|your|earlier) )*(?:memor(?:y|ies)|facts|context|recuerdos"
    r"|memorias|hechos|contexto|datos)(?: (?:about|of|from|for|relevantes|recuperad[oa]s?"
    r"|guardad[oa]s?|previ[oa]s?|sobre|del|de)\b[^\n:]{0,40})?[*_\])>]*:[^\n]*\n"
    r"(?:[ \t]*(?:[-*•]|\d+[.)])[^\n]*\n?)*",
    re.IGNORECASE | re.MULTILINE,
)
"""A list that an agent pasted of what is remembered, under its heading."""
_FIRST_PERSON = (
    r"(?:I|I'm|I've|my|me|we|yo|mi|mis|me|soy|tengo|vivo|trabajo|estoy|nací|odio|quiero|fumo|como)"
)
_SAID_IN_QUOTES = re.compile(
    rf"«[^»]{{0,2000}}»|[\"“][^\"”\n]{{0,300}}\b{_FIRST_PERSON}\b[^\"”\n]{{0,300}}[\"”]",
    re.IGNORECASE,
)
_MATERIAL = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|edit|correct|classify"
    r"|analy[sz]e|improve|shorten|traduce|resume|corrige|reescribe|mejora)\b[^.\n:]{0,80}:\s"
    r"|\b(?:this|the|these|an?|following|his|her|their|someone's|este|esta|estos|siguiente|el|la|un"
    r"|una|su)(?: [\w'-]+){0,2}? (?:e-?mails?|messages?|letters?|reviews?|posts?|comments?|bio"
    r"|lyrics|poem|transcript|tweet|passage|paragraph|excerpt|abstract|draft|dialogue|story|scene"
    r"|ad|listing|profile|testimonial|complaint|correos?|mensajes?|cartas?|reseñas?|comentarios?"
    r"|letra|poema|párrafo|transcripción|fragmento|diálogo|relato|anuncio|perfil|queja)\b"
    r"[^.\n:?!]{0,60}:\s"
    r"|\b(?:drafts?|borrador|texto?|versión|version|original|caption|intro|script|gui[oó]n|opening"
    r"|verse|letra|excerpt|here it is|here goes|aquí va|dice así|ahí va|q&a)\s*:\s"
    r"|\b(?:said|says|wrote|writes|texted|emailed|messaged|reads|posted|replied|dice|dijo|escribió"
    r"|puso|mandó|respondió|contestó)(?: (?:me|us|back|this|esto))*:\s",
    re.IGNORECASE,
)
"""What comes after it is somebody's text to work on, to the end of the turn."""
_TEXT = (
    r"(?:opening|text|e?-?mail|letter|message|paragraph|intro|bio|poem|lines?|draft|version|review"
    r"|post|story|speech|punctuation|grammar|spelling|wording|words|sentences?|advert|ad|lyrics"
    r"|cover letter|voice|transcript|interview|texto|correo|carta|mensaje|párrafo|poema|borrador"
    r"|versión|reseña|anuncio|relato|microrrelato|cuento|comienzo|arranque|final|discurso"
    r"|puntuación|gramática|ortografía|acentos|frases?|letra|entrevista)"
)
_WORKED_ON = re.compile(
    r"\A[^\n]{0,300}(?:\b(?:boil|cut|bring) (?:this|it) down\b|\btl;?dr\b"
    r"|\b(?:reword|rephrase|proofread|shorten|polish|punch up|summari[sz]e|sum up|translate"
    r"|traduce|resume|corrige|acorta|resúmeme|resumime|tradúceme|corrígeme|púleme)\b"
    rf"|\b(?:fix|edit|check|improve|tidy(?: up)?|clean up|arregla|revisa|mejora|pule) "
    rf"(?:\w+ ){{0,2}}?{_TEXT}\b"
    rf"|\b(?:does|do|is|are|how does|how do) (?:the|this|these|my) (?:\w+ ){{0,2}}?(?:{_TEXT} )?"
    r"(?:work|sound|read|land|make sense|hold up|too|ok|okay|clear|polite)\b"
    r"|\bthoughts on (?:this|my)\b|\bwhat (?:is|does|do) (?:he|she|they|this|it)\b[^\n]{0,30}"
    r"\b(?:want|mean|asking|saying)\b|\bqué (?:me )?(?:está pidiendo|pide|quiere decir|quieren)\b"
    rf"|\b(?:suena|funciona|se entiende|está bien) (?:bien |mal )?(?:est[ea]|el|la|mi) {_TEXT}\b)"
    r"[^\n]*\n\s*(?=\w)|\A[^\n]{0,300}\n(?=(?:hi|hello|dear|hola|buen[oa]s \w+"
    r"|estimad[oa]s?|querid[oa]s?)\b[^\n.!?]{0,40}[,:]\n(?:[^\n]*\n){0,30}?"
    r"(?:kind |best |warm )?(?:regards|wishes|sincerely|yours|cheers|love|un saludo|saludos"
    r"|atentamente|un abrazo|besos)\b)",
    re.IGNORECASE,
)
"""A request for work on words, on a line of its own, or a letter: below it stands the text."""


_WITHOUT_APOSTROPHE = re.compile(
    r"\b(?:(?P<verb>do|does|did|is|are|was|were|has|have|had|could|would|should|ca)nt"
    r"|(?P<i>i)(?P<be>m|ve))\b",
    re.IGNORECASE,
)


def with_apostrophes(text: str) -> str:
    """Return English with the apostrophes that hasty writers leave out: "dont", "im", "ive"."""
    return _WITHOUT_APOSTROPHE.sub(
        lambda found: f"{found['verb']}n't" if found["verb"] else f"I'{found['be']}", text
    )


def spoken(content: str) -> str:
    """Return the speaker's own words: no injected context, code, quotes or pasted material."""
    text = re.sub(r"[ \t]+", " ", without_injected(content))
    text = _CODE_BLOCK.sub("\n", text)
    text = _QUOTED_LINE.sub("", text)
    text, quotations = _SAID_IN_QUOTES.subn("", text)
    text = _INLINE_CODE.sub(lambda match: match.group().strip("`"), text)
    asked = None if quotations else _WORKED_ON.match(text.lstrip())
    text = asked.group() if asked else text
    material = _MATERIAL.search(text)
    return text[: material.start()] if material else text


def without_injected(content: str) -> str:
    """Return the content without context blocks that this server put into prompts.

    Its own blocks go by their exact envelopes; sections of the same kind that an agent wrote
    itself go by their heading, with what is below it.
    """
    text = without_memory(content).replace("\u2019", "'").replace("\u00a0", " ")
    text = _RECALLED.sub("\n", text)
    return _INJECTED_SECTION.sub("\n", _INJECTED.sub("\n", text))
