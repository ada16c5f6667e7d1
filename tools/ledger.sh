#!/usr/bin/env bash
# ledger.sh FROM SEEDS [FLAG...] runs the storms of SEEDS seeds, starting at FROM, with the
# committed code, and adds a row to docs/results/storm-ledger.md. It exits as 'stile-lab storm'
# does: with 1 if a storm broke an invariant, which the row records too.
# 'ledger.sh next' prints the first seed that is in no row.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

page=docs/results/storm-ledger.md
if [ "${1:-}" = next ]; then # the first seed that is in no row
	sed -n 's/^| [0-9]* to \([0-9]*\) |.*/\1/p' "$page" | sort -n | tail -n 1 | awk '{ print $1 + 1 }'
	exit
fi
if [ $# -lt 2 ]; then
	echo "ledger: give the first seed and how many: make ledger FROM=1 SEEDS=50000" >&2
	exit 2
fi
from=$1 seeds=$2
shift 2
if [ -n "$(git status --porcelain -- . ":!$page")" ]; then
	echo "ledger: there are changes that are not committed, and a row names a commit: commit them first" >&2
	exit 2
fi
commit=$(git rev-parse --short=12 HEAD)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stile-lab" ./cmd/stile-lab
command="stile-lab storm --seed $from --seeds $seeds${*:+ $*}"
code=0
"$dir/stile-lab" storm --seed "$from" --seeds "$seeds" "$@" --json >"$dir/json" || code=$?
if [ $code -gt 1 ]; then
	echo "ledger: '$command' did not come to its end: no row" >&2
	exit $code
fi

# key NAME prints the value of a key of the outermost object.
key() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$dir/json"; }

broken=$(key violations)
if [ "$broken" != 0 ]; then
	broken="$broken, first seed $(sed -n 's/^    "seed": \([0-9]*\),$/\1/p' "$dir/json" | head -n 1)"
fi
printf '| %d to %d | %s | `%s` | %d | %d | %.1f | %s | %s | %d | %d |\n' "$from" "$((from + seeds - 1))" "$commit" "$command" \
	"$(key entries)" "$(key views)" "$(key simulated_hours)" "$broken" "$(key digest)" "$(key terms)" "$(key revotes)" | tee -a "$page"
exit $code
