# Functions for the scripts that record a page of docs/: source "$(dirname "$0")/recording.sh"

# Run a command, and show it with its output.
run() {
    printf '```console\n$ %s\n' "$*"
    bash -c "$*" 2>&1
    printf '```\n\n'
}

# Write a paragraph.
say() { printf '%s\n\n' "$*"; }
