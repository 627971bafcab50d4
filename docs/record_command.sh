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
say "## Folders, and files larger than memory"
say "\`\`\`
bayespoint train FOLDER --target kind --model kind.bayespoint --workers 2
\`\`\`"
say "\`--workers N\` starts N processes with one thread each (\`pip install \"bayespoint[distributed]\"\`), and ends them
afterwards; \`--scheduler tcp://10.0.0.1:8786\` uses the workers of a Dask cluster, which must see the same files in the
same place and have the same version of bayespoint. Data are a file or a folder, with the folders inside: Parquet by
groups of rows, CSV by blocks of bytes, compressed CSV file by file. LIBSVM and standard input cannot be divided. All
files need the columns that are used, in any order; \`--drop\` a column that some of them lack. Files whose names begin
with a dot or an underscore are left out, and names of folders such as \`year=2024\` are not columns."
say "- **Reading.** Workers read everything twice. First they count rows and classes, so a class may be in one file alone,
  and send about 100,000 random rows, which decide what each column is, how it is prepared, and which machine to use.
  Then each prepares its own rows as \`train\` always does. A file that changes meanwhile is an error.
- **The machine.** The linear machine and landmarks (a kernel machine on 500 training points, \`solver=\"nystroem\"\`) learn
  10,000 rows each, and the better one on 3000 other rows learns all. With at most 100,000 rows cells are tried, too.
  A note says which is chosen, with the numbers of all. \`--classifier linear\` or \`kernel\` leaves no choice.
- **The test** takes at most 20,000 random rows, as always. The model file is like any other: \`predict\`, \`evaluate\`,
  \`report\` and \`export\` need no workers.
- **Memory.** Each worker and the command itself get the same share of the free memory, or of \`--max-memory\`; a note
  says how much. What does not fit, Dask writes to a temporary folder (\`DASK_TEMPORARY_DIRECTORY\` names another).
- **Time.** A line says which share of each step is done and how long the rest may take: reading, choosing, sorting,
  mapping points to landmarks, fitting. If standard error is a file, it gets such a line every 20 s. With \`--max-time\`,
  reading may take a quarter of what is left after the start of the workers; parts of the data that were not read by
  then, or that could not be learned in time, are left out at random, and a note says how many. Ctrl-C ends the fit
  with the answer so far; before the fit there is none.
- **A worker that is lost** is replaced, and its work is done again."
say "Two million rows in 20 files, nine columns, on two cores with nothing else to do
(\`python benchmarks/folders.py --rows 2000000 --files 20 --workers 2\`): 133 s, with a peak of 1.65 GB for each
worker and 0.5 GB for the command. Landmarks are chosen (log loss 0.413 against 0.603 of the linear machine)."
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
