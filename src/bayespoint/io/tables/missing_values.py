"""Words that stand for a missing value."""

# The list of pandas, "?", and what databases and spreadsheets write.
MISSING_WORDS = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?"),
    *("\\N", "(null)", "(NULL)", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
    *("#NV", "NaT", "n.a.", "N.A."),
)
# Words that can be a category, such as "-" beside "+", but are missing among numbers and dates.
NOT_A_VALUE_WORDS = (
    *("-", "--", "---", ".", "..", "*", "x", "X", "na", "Na", "none", "NONE", "Null", "nil"),
    *("NIL", "missing", "Missing", "MISSING", "unknown", "Unknown", "UNKNOWN", "k.A.", "k. A."),
    *("0000-00-00", "0000-00-00 00:00:00", "00.00.0000"),
)
