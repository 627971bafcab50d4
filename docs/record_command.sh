#!/usr/bin/env bash
# Record docs/command.md: bash docs/record_command.sh FOLDER > docs/command.md
# FOLDER holds adult_train.csv.gz and adult_test.csv.gz, the census data of UCI as they come.
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
say "A recorded session (\`docs/record_command.sh\`), on two cores. The data are the census data of UCI, *adult*, as they come: no line with names, question marks
for missing values, and a period after the classes of the test file. Installed was \`bayespoint[cli]\`, as the README says."
run "zcat adult_train.csv.gz | head -3"
say "## Three commands"
run "bayespoint train adult_train.csv.gz --target column_15 --model adult.bayespoint"
run "bayespoint report adult.bayespoint adult_test.csv.gz --output adult.html --max-error 0.05"
run "bayespoint predict adult.bayespoint adult_test.csv.gz --output answers.csv --max-error 0.05"
run "head -5 answers.csv"
say "Rows that it refuses have no prediction. The report, \`adult.html\`, is one file to send to a colleague."
say "## More"
run "bayespoint evaluate adult.bayespoint adult_test.csv.gz --max-error 0.05"
run "bayespoint diagnose adult.bayespoint"
run "bayespoint explain adult.bayespoint adult_test.csv.gz --top 5"
run "bayespoint export adult.bayespoint adult.onnx --max-error 0.05"
run "bayespoint cross-validate adult_train.csv.gz --target column_15 --classifier linear --folds 3"
say "The linear classifier can be updated, here with rows of another file, from a pipe:"
run "bayespoint train adult_train.csv.gz --target column_15 --model linear.bayespoint --classifier linear --json | head -12"
run "zcat adult_test.csv.gz | sed 's/K\.\$/K/' | bayespoint update linear.bayespoint -"
say "What is wrong is said in one line, and the exit code is not 0:"
run "bayespoint train adult_train.csv.gz --target colum_15 --model x.bayespoint; echo \"exit code \$?\""
run "bayespoint predict adult_test.csv.gz adult_test.csv.gz; echo \"exit code \$?\""
