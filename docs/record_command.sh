#!/usr/bin/env bash
# Record docs/command.md: bash docs/record_command.sh FOLDER > docs/command.md
# FOLDER holds adult_train.csv.gz and adult_test.csv.gz, the census data of UCI, unchanged.
set -euo pipefail
data=$(realpath "$1")
cd "$(mktemp -d)"
cp "$data"/adult_{train,test}.csv.gz .

run() {
    printf '```console\n$ %s\n' "$*"
    bash -c "$*" 2>&1
    printf '```\n\n'
}
say() { printf '%s\n\n' "$*"; }

say "# From a file to a report, and to answers that can be trusted"
say "This session was recorded by \`docs/record_command.sh\` on two busy cores, with \`bayespoint[cli]\` installed as the
README says. The data are UCI's census data, *adult*, unchanged: the files have no line with column names, mark
missing values with question marks, and the test file has a period after each class."
run "zcat adult_train.csv.gz | head -3"
say "## Three commands"
run "bayespoint train adult_train.csv.gz --target column_15 --model adult.bayespoint"
run "bayespoint report adult.bayespoint adult_test.csv.gz --output adult.html --max-error 0.05"
run "bayespoint predict adult.bayespoint adult_test.csv.gz --output answers.csv --max-error 0.05"
run "head -5 answers.csv"
say "Rows that the model refuses have no prediction. The report, \`adult.html\`, is a single file that you can send to a
colleague."
say "## More"
run "bayespoint evaluate adult.bayespoint adult_test.csv.gz --max-error 0.05"
run "bayespoint diagnose adult.bayespoint"
run "bayespoint explain adult.bayespoint adult_test.csv.gz --top 5"
run "bayespoint export adult.bayespoint adult.onnx --max-error 0.05"
run "bayespoint cross-validate adult_train.csv.gz --target column_15 --classifier linear --folds 3"
say "A linear classifier can be updated, here with rows of another file that come from a pipe:"
run "bayespoint train adult_train.csv.gz --target column_15 --model linear.bayespoint --classifier linear --json | head -12"
run "zcat adult_test.csv.gz | sed 's/K\.\$/K/' | bayespoint update linear.bayespoint -"
say "An error is one line, and the exit code is not 0:"
run "bayespoint train adult_train.csv.gz --target colum_15 --model x.bayespoint; echo \"exit code \$?\""
run "bayespoint predict adult_test.csv.gz adult_test.csv.gz; echo \"exit code \$?\""
