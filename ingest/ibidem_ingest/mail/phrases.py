"""Phrases by which mail programs introduce a quotation or end a mail, in their translations.

They are words of programs, not of their users: of Outlook, Thunderbird, Apple Mail, Gmail, mutt, Gnus and Lotus Notes,
whose translations are few. A phrase alone decides nothing: `headings` looks at what stands around it.
"""

import re
from typing import Literal

Label = Literal["from", "sent", "to", "subject", "other"]

COLONS = ":\uff1a"  # the colon, and the wide one of East Asian texts

# Labels of the lines of a head that a program copies above what it quotes.
LABELS: dict[Label, str] = {
    "from": "from|von|de|da|van|från|fra|od|lähettäjä|от|від|kimden|feladó|expéditeur|mittente|remitente|remetente"
    "|afzender|absender|avsändare|dari|από|发件人|寄件者|差出人|보낸 사람",
    "sent": "sent|date|gesendet|gesendet am|datum|envoyé|envoyé le|enviado|enviado el|enviado em|enviada em|fecha"
    "|inviato|data|data/ora|verzonden|verzonden op|skickat|sendt|dato|wysłano|wysłane|odesláno|odeslané"
    "|lähetetty|päiväys"
    "|отправлено|дата|надіслано|gönderildi|gönderilme tarihi|tarih|elküldve|dátum|trimis|dikirim|tanggal"
    "|发送时间|日期|寄件日期"
    "|送信日時|日付|보낸 날짜|날짜|sent at|sent on",
    "to": "to|an|à|a|para|per|aan|till|til|do|komu|vastaanottaja|кому|kime|címzett|către|kepada|destinataire"
    "|destinatario|destinatário|empfänger|收件人|宛先|받는 사람|προς",
    "subject": "subject|betreff|objet|sujet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|předmět|aihe|тема|konu"
    "|tárgy|subiect|subjek|perihal|主题|主旨|件名|제목|θέμα",
    "other": "cc|bcc|kopie|kopie \\(cc\\)|copie|copie à|kopia|kopi|dw|копия|копія|抄送|副本|참조|reply-to|antwort an"
    "|répondre à|responder a|rispondi a|attachments?|anlagen?|pièces jointes|datos adjuntos|allegati|importance"
    "|wichtigkeit|priorität|priority|organi[sz]ation|newsgroups|message-id|x-mailer|resent-from",
}

LABEL = re.compile(
    r"(?<![ \t*_])[ \t*_]*+(?:"
    + "|".join(f"(?P<{label}>{words})" for label, words in LABELS.items())
    + r")[ \t\u00a0*_]*+["
    + COLONS
    + "][*_]*+",
    re.IGNORECASE,
)

# Words for writing in the line above a quotation.
VERB = re.compile(
    r"\b(?:wrote|writes|write|said|says|schrieb|schrieben|schreibt|geschrieben|écrit|ecrit|écrivait|écrivit|escribió"
    r"|escribio|escribe|escribía|scritto|scrive|scrisse|escreveu|escreve|schreef|schrijft|het volgende"
    r"|geschreven|skrev|skriver|skreiv|kirjoitti|kirjoittaa|napisał|napisała|napisal|napsal|napsala|píše|пишет|писал"
    r"|написал|написала|пише|wrote on|yazdı|yazmış|írta|a scris|έγραψε|kirjutas|va escriure|ha escrit|menulis|viết"
    r"|quoting|zitat von|zitiere)\b|napisał\(a\)|написав|写道|寫道|wrote|のメッセージ|書きました|작성",
    re.IGNORECASE,
)

# How a line above a quotation begins that names a date first.
OPENER = re.compile(
    r"(?<![\"'*\s])[\"'*\s]*+(?:on|at|am|le|el|il|em|op|den|på|dnia|dne|w dniu|em|a|за|tarihinde|pe|pada|vào|\d)[\s\d]",
    re.IGNORECASE,
)

# What stands between dashes above a mail that is quoted whole.
SEPARATOR = re.compile(
    r"original ?message|forwarded (?:message|by|mail)|begin forwarded|reply message|original appointment"
    r"|ursprüngliche nachricht|original-?nachricht|originalnachricht|weitergeleitete[rn]? nachricht|weitergeleitet von"
    r"|message d['’ ]origine|message original|message transféré|message réexpédié|transféré par|mensaje original"
    r"|mensaje reenviado|reenviado por|messaggio originale|messaggio inoltrato|inoltrato da|mensagem original"
    r"|mensagem encaminhada|encaminhado por|oorspronkelijk bericht|doorgestuurd bericht|origineel bericht"
    r"|ursprungligt meddelande|vidarebefordrat|oprindelig meddelelse|opprinnelig melding|alkuperäinen viesti"
    r"|wiadomość oryginalna|oryginalna wiadomość|původní zpráva|исходное сообщение|пересылаемое сообщение"
    r"|original ileti|özgün ileti|eredeti üzenet|原始邮件|原始郵件|転送|元のメッセージ|원본",
    re.IGNORECASE,
)

# What Apple Mail writes above a mail that it forwards, without dashes.
FORWARD = re.compile(
    r"begin forwarded message|anfang der weitergeleiteten|début du message (?:réexpédié|transféré)"
    r"|inicio del mensaje reenviado|inizio(?: del)? messaggio inoltrato|início da mensagem reencaminhada"
    r"|begin doorgestuurd bericht|vidarebefordrat brev",
    re.IGNORECASE,
)

# How the line begins that a telephone adds.
FOOTER = re.compile(
    r"(?:sent (?:from|via|with) (?:my |the )?[\w ]{2,30}|get outlook for|von meinem [\w ]{2,30} gesendet"
    r"|gesendet (?:von|mit) |envoyé (?:de|depuis) |enviado (?:desde|do|a partir) |inviato (?:da|dal) |verzonden vanaf "
    r"|skickat från |sendt fra |wysłane z |отправлено с |télécharger outlook|outlook für |obtener outlook"
    r"|scarica outlook|outlook para )",
    re.IGNORECASE,
)

# What the footer of a mailing list holds.
LIST_FOOTER = re.compile(
    r"mailing list|mailingliste|mailinglist|unsubscribe|abmelden|désinscri|desinscri|cancellar|listinfo|list-archive"
    r"|/listinfo/|google groups|yahoo! groups|liste de diffusion|lista de correo|lista di ",
    re.IGNORECASE,
)

DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\b(?:19|20)\d\d\b|\d{1,2}[:.h]\d\d")
ADDRESS = re.compile(r"[<\[(]?[\w.+'=-]{1,64}+(?:@| at )[\w-](?:[\w.-]++|(?= dot ))(?: dot [\w.-]++)*[>\])]?")
UNDERSCORES = re.compile(r"(?<![_-])[_-]{10,}+\s*+$")  # a line of nothing else, above a footer or a copied head
