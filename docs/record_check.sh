#!/usr/bin/env bash
# Record docs/check.md: bash docs/record_check.sh > docs/check.md
set -euo pipefail
source "$(dirname "$0")/recording.sh"
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
python "$here/make_traps.py" "$folder"
cd "$folder"

say "# What is in a file, and what is done with it"
say "A file that somebody exports is rarely a clean table. \`bayespoint check FILE\` says what each column is and what
\`train\` will do with it. Here is an export with all traps at once, made by \`docs/make_traps.py\`; this page is recorded
by \`docs/record_check.sh\`."
run "head -3 orders.csv | iconv -f cp1252 -t utf-8 | cut -c 1-110"
run "bayespoint check orders.csv --target Klasse --write orders.toml"
say "Nothing is decided silently. Row indices, identifiers, constants, duplicates and exact copies of the target are left
out. A column that alone predicts the target too well is used, but there is a question: only you can know whether it is
known in time. Classes are texts as they stand in the file: here \`01\` and \`1\` are two classes."
say "## The same look in train"
run "bayespoint train orders.csv --target Klasse --model orders.bayespoint --drop Bezahlt --drop Rabatt"
say "Everything is kept in the model. New rows may be written in another encoding; new categories, columns that differ
from training and values that cannot be read are told:"
run "bayespoint predict orders.bayespoint new_orders.csv --output answers.csv"
run "head -3 answers.csv"
run "cut -d ';' -f 1,2,5- new_orders.csv > fewer.csv; bayespoint predict orders.bayespoint fewer.csv; echo \"exit code \$?\""
say "## Decide yourself"
run "cat orders.toml"
say "Change a line, and train with \`--plan orders.toml\`. Options overrule the file, and both overrule the guess:"
cat <<'TABLE'
| option | meaning |
|---|---|
| `--columns NAME` | use only this column (repeat it for more) |
| `--drop NAME`, `--keep NAME` | leave a column out; use it although it looks like an identifier |
| `--categorical NAME`, `--numeric NAME`, `--text NAME` | what a column is |
| `--date NAME`, `--date NAME=%d/%m/%Y` | it holds dates, and how they are written |
| `--decimal ,` | the decimal mark, except for columns that can only have another one |
| `--encoding`, `--delimiter`, `--header` | how to read the file |
| `--min-class-rows N` | leave out classes with fewer rows (2) |
| `--max-classes N` | allow more classes; a target with more than 50 different numbers is refused otherwise |

## How it is decided

- **Numbers.** One format for each column, from its values: `1.5`, `1,5`, `1.234,50 €`, `12 %`, `(1,234)`, `5 kg`. If
  `1,234` could be both, other columns and the delimiter decide, and there is a question. So there is if few values
  have the unit, as in `67 yrs` among `34` and `71`. If at least 90 % of the values are numbers, the others count as
  missing and are noted.
- **Categories.** Texts, and whole numbers with leading zeros, such as zip codes. A missing value is a category.
  `Basic` and `basic` are two categories, but there is a question.
- **Dates** become days since the first one, year, month, weekday and hour, as far as they vary.
- **Free text** (four words or more, mostly different) becomes the weights of its 200 most frequent words. Such a model
  cannot be exported to ONNX.
- **Identifiers.** Texts that nearly all differ, UUIDs, and whole numbers that differ where chance would repeat some,
  or that only increase. Row numbers are an index.
- **Leaks.** Each column alone predicts the target in cross-validation, from its values or by a small tree. It is
  suspicious if it removes 97 % of the errors of a constant guess (95 % if it has one value for each class), or 90 % if
  every other column leaves three times as many errors.
- Missing values are written as nothing, `NA`, `N/A`, `NULL`, `\N`, `?`, `nan`, `#N/A` and the like; among numbers and
  dates also as `-`, `.` or `unknown`. A number such as -999 or 9999, far from all others, stays a number, but there is
  a question. So there is if some numbers of a column have a percent sign and others have none.
- **Answers in CSV** are written as they are, also classes that begin with `=`, `+`, `-` or `@`. A spreadsheet may take
  such a class for a formula. We do not change it, because then it would no longer match the class in your file: import
  the column as text, or write Parquet.

`python benchmarks/messy_exports.py` writes a table as pandas, R, Excel and databases do and compares what comes back;
`python benchmarks/leakage.py` plants leaks into clean data.
TABLE
