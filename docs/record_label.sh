#!/usr/bin/env bash
# Record docs/labeling.md: bash docs/record_label.sh > docs/labeling.md
# Its pictures: python benchmarks/label_pages.py FOLDER --docs docs/pictures
set -euo pipefail
here=$(realpath "$(dirname "$0")")
source "$here/recording.sh"
cd "$(mktemp -d)"

# Run `bayespoint label` while a scripted person answers on its page, and show what it says.
# The first argument is for the person (see benchmarks/label_person.py).
label() {
    printf '```console\n$ %s\n' "$2"
    rm -f said.txt
    bash -c "exec $2" > said.txt 2>&1 &
    # shellcheck disable=SC2086
    python "$here/../benchmarks/label_person.py" said.txt truth.csv $1
    if [[ $1 == *--leave* ]]; then kill -9 $!; fi
    wait $! 2> /dev/null || true
    cat said.txt
    printf '```\n\n'
}

python - <<'EOF'
import numpy as np
from sklearn.datasets import load_breast_cancer

data = load_breast_cancer(as_frame=True)
order = np.random.default_rng(0).permutation(len(data.data))
X = data.data.iloc[order, :10].rename(columns=lambda name: name.removeprefix("mean "))
y = data.target.iloc[order].map({0: "malignant", 1: "benign"}).rename("diagnosis")
X[:500].to_csv("pool.csv", index=False)
y[:500].to_csv("truth.csv", index=False)
X[500:].assign(diagnosis=y[500:]).to_csv("new.csv", index=False)
X[:500].sample(frac=1, random_state=0).to_csv("shuffled.csv", index=False)
EOF

say "# From a file without labels to a model with a promise"
say "You have a file of rows, and nobody has labeled them. \`bayespoint label\` opens a page in your browser and asks you for
the class of one row after another: those that teach the model most, and blind tests in between. It says when to stop:
when it can answer the rest of the file with at most the error that you name."
say "Install it with \`python -m pip install \".[label]\"\` in a checkout of this repository. This session was recorded by
\`docs/record_label.sh\`, with a scripted person in front of the page. The data are
scikit-learn's breast cancer data, ten columns, 500 rows without their labels; 69 other rows are new rows for the
model."
say "## Label"
run "head -3 pool.csv"
label "--answers 30 --leave" "bayespoint label pool.csv --target diagnosis --classes benign,malignant --max-error 0.1 --model tumor.bayespoint"
say "The page opens by itself; if it does not, open the address. This is what it looks like, here with other pools:"
say "![A table of numbers, with the promise](pictures/label_table.png)"
say "![Pictures, in dark colors](pictures/label_images.png) ![Texts on a phone](pictures/label_phone.png)"
say "| key | |
|---|---|
| 1 to 9 | the class with this number on its button; a class that is called 7 has the key 7 |
| N | a class by its name, also a new one |
| D or 0 | don't know |
| S | skip: ask me later |
| U or Ctrl-Z | undo the last answer, as often as you like |
| / | find a row by its number or a text, to change its answer |
| G | all answers, small, to check them |
| Esc | back to the question |"
say "On the right: what is promised, how many labels there are, the estimated error and its interval, classes, answers that
look wrong (click on one to look again), and your last answers. The stripes before a promise are what the model only
expects."
say "## Nothing is lost"
say "After 30 answers, the command above was killed with \`kill -9\`. Every answer is on the disk before the next row is
shown, in a journal beside the file. It is a CSV file that any program can read:"
run "tail -3 pool.journal.csv"
say "The same command goes on where it stopped, today or next week; classes and promise are in the journal. The person
answers until the promise holds, and then chooses \"Finish\" on the page. Ctrl-C in the terminal does the same."
label "" "bayespoint label pool.csv --target diagnosis --model tumor.bayespoint"
say "How many labels it takes depends on chance: recordings of this page took 109, 123 and 219."
say "## What you get"
say "| file | |
|---|---|
| \`pool.labeled.csv\` | your file, with the labels in the column of the target |
| \`pool.predicted.csv\` | answers for all other rows: row (counted from 1), prediction, probability, and whether the promise covers it. Rows that it does not cover are refused and have no prediction |
| \`tumor.bayespoint\` | the model, for \`predict\`, \`evaluate\`, \`report\` and \`export\`; it refuses, too. Only with \`--model\` |
| \`pool.report.html\` | a report on the blind rows: [the report](report.md). Only with a promise |
| \`pool.journal.csv\` | every answer, correction and skip, with its time |"
run "head -4 pool.predicted.csv"
say "The model answers rows of other files. Here these have labels, so that it can be judged:"
run "bayespoint predict tumor.bayespoint new.csv --output answers.csv; head -3 answers.csv"
run "bayespoint evaluate tumor.bayespoint new.csv | grep -E 'seen|It answers'"
say "## What is promised, and what is not"
say "With \`--max-error 0.1\`: with a probability of 95 % (\`--confidence-level\`), at *every* moment at which the page says that
the promise holds, at most 10 % of the answers that it would give for the rest of your file are wrong. You may look
after each label and stop when you like what you see. This needs blind questions: rows drawn at random, which look like
all others, so that nobody answers them more carefully. About two thirds of the questions are blind once the model is
worth a test. [How it works](notes/labeling.md)."
say "- **Your labels are taken as right.** The promise is about the answers that you would give.
- **\"Don't know\" counts as wrong** where the model would have answered, and so does a blind question as long as it is
  skipped. You may correct answers at any time; the promise is computed anew.
- **You may also label rows of your own choice.** Models that learn from them are tested anew, with other blind rows,
  so that nothing you have seen can bend the test. This costs more questions.
- **Only the rows of this file.** If new rows are different (drift), nothing is promised about them. \`predict\` says
  which columns have drifted.
- **A small file cannot be promised much.** If the model makes no mistake in them, about 100 blind questions are needed
  for 5 % and 50 for 10 %, else more. In a file of 300 rows you may have labeled half of it by then.
- **The promise is about the model that was tested.** Models that learn more later are tested anew, and the one that
  answers most rows is kept. So the model in the file may have learned from fewer labels than there are."
say "Without \`--max-error\` there are no blind questions: the fewest labels for a good model, and no promise."
say "## Options"
say "- \`--target\` names the column for the labels. If it is in the file, its labels are used, and only rows without one are
  asked about. \`--classes\` is optional: type a new class on the page when you meet one.
- \`--show NAME\` shows only these columns; \`--columns\`, \`--drop\`, \`--categorical\`, \`--date\` and the other options for
  columns are those of \`train\`: what the model uses ([check](check.md) tells before). \`--text NAME\` is a column of free
  text, shown in large type.
- \`--image NAME\` is a column with files of pictures below the folder of the file (or \`--image-folder\`), or with data
  URIs. The page shows them. The model does not look at pictures: it needs columns with numbers that describe them.
- \`--journal FILE\` keeps the answers elsewhere. A journal belongs to one file, target, seed and promise.
  \`--seed\` repeats a session in a test; without it nobody knows the blind rows beforehand.
- \`--finish\` writes the results without the page. \`--port\`, \`--no-browser\`: for a machine far away, open a tunnel
  (\`ssh -L 8000:127.0.0.1:8000\`) and use \`--port 8000\`."
say "\`--export\` writes the labeled rows alone, and \`--merge\` takes over the answers of another journal: a colleague's, or
your own for an older version of the file. Rows are recognized by their content. Answers that are here already stay."
run "bayespoint label pool.csv --target diagnosis --export labels.csv; head -2 labels.csv"
say "The same rows in another order:"
run "bayespoint label shuffled.csv --target diagnosis --merge pool.journal.csv --finish"
say "Answers that were taken over teach the model. They are no blind tests: a new session with a promise asks its own."
say "## Safety"
say "The page is served on 127.0.0.1 only: other machines do not reach it. Its address has a random token that changes with
each start, and without it nothing is answered, so that other web pages cannot use it. The page asks nothing of any
other address: scripts and pictures come from your machine. Only one command at a time can write a journal; several
windows on one command see the same state."
say "## In Python"
say "The page is a thin view on \`active.Session\`, which works with any scikit-learn classifier:"
cat <<'EOF'
```python
from sklearn.datasets import load_breast_cancer

from bayespoint import active

X, y = load_breast_cancer(return_X_y=True)  # y is the person here
session = active.Session(None, X, max_error=0.15, random_state=0)
while not session.certificate().holds and len(session.labels) < 300:
    row = session.ask()
    session.tell(row, y[row])  # or active.UNKNOWN; session.skip(row), session.undo()
print(session.certificate().message)
found = session.predict()  # label, probability, source and answered of each row
print(len(session.labels), "labels,", (found.label != y)[found.answered].mean(), "errors")
model = session.reject_option()  # refuses rows that the promise does not cover
```

`active.query` only chooses rows, for a loop of your own, and there is no promise then:

```python
from bayespoint import BayesPointClassifier

model = BayesPointClassifier().fit(X[:20], y[:20])
active.query(model, X[20:], n=5)  # five positions in X[20:], spread out
active.query(model, X[20:], method="halving")  # "margin" is the default; "information", "random"
```
EOF
