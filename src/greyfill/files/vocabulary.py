"""The words that people write for a missing value; they load without a frame library."""

_ERRORS = ("#N/A", "#NA", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")
"""What spreadsheets write into cells that they cannot compute."""

TEXT_WORDS = frozenset(
    ("?", "??", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>", "nan", "NaN", "NAN", "NULL", "null",
     "(null)", "\\N", "k.A.", "k. A.", *_ERRORS)
)  # fmt: skip
"""Words that mean missing in a column of text too, in this spelling."""

NO_CATEGORIES = frozenset(
    ("*", "-", "--", ".", "...", "nil", "missing", "undefined", "k.a.", "k. a.", "na",
     *(word.lower() for word in TEXT_WORDS))
)  # fmt: skip
"""Words that are hardly ever a category of their own, in small letters."""

MISSING_WORDS = NO_CATEGORIES | {
    "none", "unknown", "unk", "---", "n.d.", "n.v.", "o.a.", "s/d", "keine angabe", "unbekannt",
    "no data", "not available", "not applicable", "not known", "not reported", "not recorded",
    "fehlt", "fehlend", "nicht bekannt", "inconnu", "inconnue", "non renseigné", "non renseignée",
    "non disponible", "desconocido", "desconocida", "sin dato", "sin datos", "no disponible",
    "não informado", "desconhecido", "sconosciuto", "non disponibile", "onbekend", "brak danych",
}  # fmt: skip
"""Words that often stand for a missing value, in small letters."""
