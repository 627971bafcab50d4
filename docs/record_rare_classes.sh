#!/usr/bin/env bash
# Record docs/rare_classes.md: bash docs/record_rare_classes.sh > docs/rare_classes.md
set -euo pipefail
source "$(dirname "$0")/recording.sh"
cd "$(mktemp -d)"

python - <<'EOF'
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
for name, n_rows in (("customers", 5800), ("new_customers", 4000)):
    X = rng.poisson(2, size=(n_rows, 12))
    logit = -3.4 + 0.35 * (X[:, 0] - 2) + 0.3 * (X[:, 1] - 2) + 0.2 * (X[:, 2] - 2) * (X[:, 3] > 2)
    table = pd.DataFrame(X, columns=[f"count_{i}" for i in range(12)])
    table["buys"] = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-logit)), "yes", "no")
    table.to_csv(f"{name}.csv", index=False)
EOF

say "# Rare classes, costs, and rows that a model has seen"
say "This session was recorded by \`docs/record_rare_classes.sh\`, which also makes the data: counts, and a class that one
row in twenty has."
run "head -3 customers.csv"
say "## A model that never answers with the rare class"
run "bayespoint train customers.csv --target buys --model m.bayespoint --classifier linear"
say "The error looks good and means nothing: always \"no\" has the same. But the probabilities say whom to ask first."
say "## Answers with the rare class"
say "\`--threshold-for\` sets the threshold on held-out rows, and says what that costs."
run "bayespoint train customers.csv --target buys --model m.bayespoint --classifier linear --threshold-for yes:recall=0.8 | tail -n +5 | head -13"
run "bayespoint evaluate m.bayespoint new_customers.csv"
say "If you know what errors cost, say it: \`TRUE:ANSWER=COST\`. Errors that are not named cost 1, and right answers
nothing; \`yes:yes=-3\` would be a gain. With many classes, give a CSV file: true classes down, answers across."
run "bayespoint train customers.csv --target buys --model m.bayespoint --classifier linear --costs yes:no=15,no:yes=1 | tail -n +5 | head -9"
run "bayespoint evaluate m.bayespoint new_customers.csv | grep cost"
run "bayespoint predict m.bayespoint new_customers.csv --probabilities | head -4"
say "The rule is in the model file: \`predict\`, \`evaluate\`, \`report\` and \`export\` use it, and so does \`predict\` in
Python (\`RejectOptionClassifier(costs=...)\`). Probabilities do not change. \`--class-weight balanced\` or \`yes=5,no=1\` is
something else: it weighs rows in training, which changes the probabilities."
say "## Rows that a model has seen do not judge it"
run "bayespoint evaluate m.bayespoint customers.csv | head -3"
run "bayespoint evaluate m.bayespoint customers.csv --include-training-rows | head -3"
say "How it recognizes them: [what a model knows of its rows](model_files.md#what-a-model-knows-of-its-rows)."
