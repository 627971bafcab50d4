#!/usr/bin/env bash
# Record docs/command.md: bash docs/record_command.sh FOLDER > docs/command.md
# FOLDER holds adult_train.csv.gz and adult_test.csv.gz, the census data of UCI, unchanged.
set -euo pipefail
source "$(dirname "$0")/recording.sh"
data=$(realpath "$1")
cd "$(mktemp -d)"
cp "$data"/adult_{train,test}.csv.gz .

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
say "## Large files, and limits"
say "Beyond 10,000 rows or 1000 columns it is not clear which machine is better. \`train\` and \`cross-validate\` then train
both, the linear one with all rows and a kernel machine with as many as it can afford (without \`--max-time\`, 50,000),
test them on up to 3000 training rows that neither has seen, and keep the one with the smaller log loss. A note says
which one, with both numbers. \`--classifier linear\` or \`kernel\` skips the comparison. Files that do not fit into memory
are read as a stream: the linear machine learns every row once, and a kernel machine learns a random sample."
say "\`--max-time 30\` is a limit for the whole command, from its start: reading may take a quarter of it; then come both
machines, the test and the comparison with other classifiers. \`--max-memory 2G\` is a limit for the whole process, with
Python and its libraries (about 300 MB). Both are obeyed within about a fifth, on generated files like *skin*, *sleep*
and the KDD cup of 1999 (\`python benchmarks/large_files.py\`). Less memory than about 2 GB is not always kept: with 1G,
the file like the KDD cup took 1.7 GB. Memory is estimated before it is taken, from a sample of prepared rows. If it is
too short, the linear machine learns rows in parts, and the kernel machine gets fewer rows. What was left out is said:
\"the model is trained with 16,750 of 225,000 rows\". In \`--json\`, \`n_rows\` is the number of rows that the model
learned from, \`n_rows_available\` the number of training rows that were read, and \`contest\` has the numbers of the
comparison."
say "## More"
run "bayespoint evaluate adult.bayespoint adult_test.csv.gz --max-error 0.05"
run "bayespoint diagnose adult.bayespoint"
run "bayespoint explain adult.bayespoint adult_test.csv.gz --top 5"
run "bayespoint export adult.bayespoint --output adult.onnx --max-error 0.05"
run "bayespoint cross-validate adult_train.csv.gz --target column_15 --classifier linear --folds 3"
say "A linear classifier can be updated, here with rows of another file that come from a pipe:"
run "bayespoint train adult_train.csv.gz --target column_15 --model linear.bayespoint --classifier linear --json | head -12"
run "zcat adult_test.csv.gz | sed 's/K\.\$/K/' | bayespoint update linear.bayespoint -"
say "An error is one line, and the exit code is not 0:"
run "bayespoint train adult_train.csv.gz --target colum_15 --model x.bayespoint; echo \"exit code \$?\""
run "bayespoint predict adult_test.csv.gz adult_test.csv.gz; echo \"exit code \$?\""
