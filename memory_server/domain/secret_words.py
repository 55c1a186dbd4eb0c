"""The words by which people tell passwords, PINs, keys and codes, in English and Spanish."""

import re

MARK = "[secret]"
"""What stands in the place of a secret."""

_QUALIFIER = (
    r"(?:one[- ]time|verification|security|access|alarm|door|gate|entry|entrance|building|garage"
    r"|lock|padlock|lockbox|locker|safe|vault|keypad|unlock|log-?in|sign-?in|recovery|back-?up"
    r"|reset|2fa|mfa|two-factor|authenticator|authentication|auth|sms|house|burglar|intercom)"
)
_PLACE = (
    r"(?:alarm|door|gate|building|garage|safe|vault|lock|padlock|lockbox|locker|house|flat|office"
    r"|shed|keypad|front door|back door)"
)
_LUGAR = (
    r"(?:alarma|puerta|portal|portón|garaje|cochera|caja fuerte|candado|taquilla|casillero|edificio"
    r"|entrada|verja|reja|casa|oficina|trastero)"
)
_OTHER_CODES = (
    r"(?:zip|post|postal|postcode|area|error|dress|promo|discount|coupon|country|bar|source|booking"
    r"|status|exit|tax|voucher|gift|referral|product|course|flight|http|sort|colou?r|hex|airport"
    r"|model|order|tracking) "
)
_CODES = (
    rf"(?:{_QUALIFIER}[ -]){{1,2}}codes?"
    rf"|codes? (?:for|to|of|at|on) (?:the |my |our |his |her |their |\w+'s )*{_PLACE}"
    rf"|(?:your|his|her|their|the|my|a) (?!{_OTHER_CODES})(?:\w+ )?codes?"
    r"(?= (?:is|was|they|that|I got) )"
    r"(?=[^.!?\n]{0,40}(?:\d{4,}|\d{3}[ -]\d{3}))"
    rf"|combinations? (?:for|to|of|on) (?:the |my |our )*{_PLACE}|{_PLACE} combination"
    r"|combination(?= is| ?:)"
    r"|códigos? (?:de(?: la| mi| un solo)?|del|para(?: el| la)?|por|que me (?:llegó|mandaron"
    r"|enviaron|ha llegado|han mandado)(?: por)?) ?"
    r"(?:seguridad|verificación|acceso|recuperación|respaldo|confirmación|desbloqueo|uso|sms"
    rf"|mensaje|{_LUGAR})"
    r"|(?:su|tu|el) código(?= (?:es|de \w+ es|para)\b| ?:)"
    rf"|combinación(?: (?:de|del|para)(?: la| el| mi)? {_LUGAR})?"
    r"|clave(?= (?:es|era)(?: el| la)? \S*\d)|log-?in|usuario(?= \S+[ ,/]+\S*\d)"
    r"|wi-?fi(?: (?:de casa|at home|network|del? \w+))?(?= ?(?::|is|es) ?\S*[a-z]\S*\d)"
)
CODE_NOUN = re.compile(_CODES, re.IGNORECASE)
"""Words after which only what looks like a code is one: a code is also a dress code."""
NOUN = (
    r"(?<![\w-])(?:pass-?(?:words?|phrases?|codes?|keys?|wd)|pwd|pw(?= ?[:=])|pass(?= ?[:=]| is )"
    r"|pins?(?: codes?| numbers?)?(?!\w| (?:me|it|this|that|up|down|boards?|collection|cushion"
    r"|badges?)\b)|nips?|cvv2?|cvc2?"
    r"|otps?|(?:api|secret|access|private|encryption|ssh|wi-?fi|wlan|router|modem|hotspot|network|wpa2?|recovery|signing"
    r"|client|service|deploy)[ _-](?:access[ _-])?(?:keys?|secrets?)"
    r"|(?:(?:bearer|auth|access|api|refresh|session|bot|secret|personal access)[ _-])?tokens?"
    r"|(?:seed|recovery|secret|mnemonic) (?:phrases?|words)|(?:credit |debit |bank )?card numbers?"
    r"|contraseñas?|contrasenas?|mi clave(?! para)|clave (?:secreta|privada|api)"
    r"|claves? (?:de|del|para)(?: la| el| mi| mi cuenta de| su)?"
    r" (?:acceso|wi-?fi|internet|red|banco|netflix"
    r"|correo|cajero|caja fuerte|puerta|portal|alarma|garaje|candado|tarjeta|cuenta|api"
    r"|móvil|celular|teléfono)"
    r"|(?:frase|palabras) (?:semilla|de recuperación|secretas?)|número de (?:mi |la )?tarjeta"
    rf"|{_CODES})(?!\w)"
)
ABOUT_SECRETS = re.compile(
    r"pass|pwd|pw ?[:=]|pin\b|nip\b|pins\b|cvv|cvc|otp|key|secret|token|phrase|card|contras|clave"
    r"|frase|palabras|tarjeta|code|código|combinat|combinación|log-?in|wi-?fi|usuario|alarm"
    r"|gate|door|safe|portal|puerta|keypad|candado|lock|caja fuerte|garage|garaje|cochera|vault",
    re.IGNORECASE,
)
"""What a text must hold that tells a secret in words."""
_DIAL = (
    r"(?:dial|punch in|key in|type(?: in)?|enter|press|marca|marcas|marcar|teclea|pulsa|pon|pones)"
)
DOOR = re.compile(
    rf"(?:\b(?:{_PLACE}|{_LUGAR})(?: code)?(?: is|'s|:| es| opens with| (?:se )?abre con)(?: el)?"
    rf"|\b{_DIAL}(?: el)?(?=[^.!?\n]{{4,40}}\b(?:open|abrir|abre|{_PLACE}|{_LUGAR})\b))"
    r" (?P<secret>\d{2}(?:-\d{2}){2}|\d{3,8}[#*]?)"
    r"(?![\w.,]*\d|\s*(?:years|cm|m\b|kg|km|euros|dollars|años|metros))",
    re.IGNORECASE,
)
"""A number that opens a door, told without any word for it."""
DIGITS = (
    r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|cero|uno|dos|tres|cuatro"
    r"|cinco|seis|siete|ocho|nueve)"
)
UNITS = re.compile(
    r"\s*(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|secs?|times?|people|persons|users?"
    r"|characters?|chars|letters|digits|bits?|bytes?|[kmg]b(?:ps)?|mbps|[kcm]?m|kg|km|miles|euros?"
    r"|dollars?|pounds|€|%|°|am|pm|a\.m|p\.m|o'clock|años?|meses|semanas?|días?|horas?|minutos?"
    r"|segundos?|veces|personas|usuarios|caracteres|letras|dígitos|pesos|soles|metros|h)\b"
    r"|\s+(?!(?:always|is|was|as|this|has|does|gets|works|opens|las|los|les|es|nos|sus|mis|más|pues"
    r"|gracias|thanks|plus|yes|perhaps|sometimes)\b)[a-záéíóúñ]{3,}s\b",
    re.IGNORECASE,
)
BEFORE_NUMBERS = re.compile(
    r"(?:[$€£]|\b(?:in|on|since|port|version|line|page|error|status|after|every|about|over|until"
    r"|by|room|flat|apartment|bus|extension|phone(?: number)?(?: is)?|call|ends? (?:in|with)|en"
    r"|desde|hasta|puerto|versión|línea|cada|hace|piso|habitación|teléfono(?: es)?|calle|acaba en"
    r"|termina en|expires?|caduca|jan\w*|feb\w*|mar\w*|apr\w*|may|jun\w*|jul\w*|aug\w*|sep\w*"
    r"|oct\w*|nov\w*|dec\w*|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre"
    r"|noviembre|diciembre)(?: de| of)?)\s*$",
    re.IGNORECASE,
)
"""Words before a number by which it is a place, a time or a count."""
SPOKEN_OF = frozenset(
    "not no never too very so really quite pretty rather weak strong long short longer shorter "
    "safe secure insecure wrong right correct incorrect invalid valid expired expiring required "
    "needed necessary stored kept saved written on in at under behind inside with from by for "
    "the a an my our your his her their its easy hard difficult same different always still also "
    "only just lost gone stolen leaked hashed encrypted reset changed working being set about "
    "something nothing anything what that this those these where when who why how which mandatory "
    "optional visible hidden empty missing broken blocked locked old new good bad terrible great "
    "fine ok okay important useless ridiculous annoying one two three both all going supposed "
    "accepted rejected refused denied shared known public private fake it its i you we they as if "
    "near close usually used due "
    "muy tan más demasiado larga corta largo corto débil fuerte segura seguro mala malo "
    "buena bueno "
    "incorrecta incorrecto correcta correcto inválida caducada necesaria obligatoria guardada "
    "apuntada escrita en el la los las un una unos mi mis su sus tu de del con por para que lo se "
    "siempre nunca ya sigue fácil difícil misma mismo otra otro distinta nueva vieja algo "
    "nada esta este esa ese eso todo bloqueada bloqueado perdida robada cifrada privada pública "
    "importante imposible cosa tener ser saber no sí me te nos ni como cuando donde".split()
)
"""First words of what is said about a secret, and is none."""
FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?i:\bbearer)\s+(?P<secret>(?=[\w.~+/=-]*[\d.])[\w.~+/=-]{6,}[\w=])",
        r"(?i:\bauthorization)\s*[:=]\s*(?i:basic|token|bearer|apikey)?\s*(?P<secret>[\w.~+/=:-]{8,})",
        r"\b(?P<secret>eyJ[\w-]{8,}(?:\.[\w-]+){0,2})",
        r"\b(?P<secret>(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{8,})",
        r"\b(?P<secret>(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|npm_|hf_|dop_v1_|shpat_|ya29\.)"
        r"[\w.-]{8,})",
        r"\b(?P<secret>(?:AKIA|ASIA)[0-9A-Z]{8,}|AIza[\w-]{20,}|SG\.[\w-]{8,}\.[\w-]{8,})",
        r"(?s)(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?"
        r"(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))",
        r"://[^/\s:@]{0,80}:(?P<secret>[^@\s/]{1,200})@",
        r"[?&](?i:token|key|api_?key|access_token|auth|sig|secret|password|pwd|otp)="
        r"(?P<secret>[^&\s\"'<>]{4,})",
        r"(?i:\b[\w-]{0,40}(?:api_?key|secret|token|password|passwd|pwd|private_?key|access_?key|pass))"
        r"[\"']?\s*=\s*[\"']?(?P<secret>[^\s\"',;]{4,})",
        r"(?i:\b(?:client|app|shared|webhook|api)[_-](?:secret|key|token))[\"']?\s*:\s*[\"']?"
        r"(?P<secret>[^\s\"',;]{6,})",
    )
)
"""What is a secret by its form alone."""
