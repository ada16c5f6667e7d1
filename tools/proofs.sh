#!/usr/bin/env bash
# proofs.sh prints docs/results/proofs.md: what 'stile-lab check' finds of every sound algorithm,
# one row for each command. It exits with 1 if a property does not hold.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stile-lab" ./cmd/stile-lab
cat <<END
# What is proved

<!-- made by 'make proofs' at commit $(git rev-parse --short=12 HEAD), $(nproc) cores, $(uname -sm): do not edit -->

Each row is a command that explores every order of events. With \`--requests unbounded\` a property is proved
for that number of processes; otherwise it holds up to the bound on requests, crashes or comebacks that the
command gives, or by default: see \`stile-lab check --help\`. The states are those of the pass without monitors.

| command | states | seconds | properties that hold |
|---|--:|--:|---|
END

row() {
	"$dir/stile-lab" check "$@" --json >"$dir/json"
	awk -v command="stile-lab check $*" -F '"' '
		/^  "states":/ { states = $3; gsub(/[^0-9]/, "", states) }
		/^  "seconds":/ { seconds = $3; gsub(/[^0-9.e-]/, "", seconds) }
		/^      "name":/ { name = $4; if (name == "deadlock" || name == "starvation" || name == "false-report") name = "no " name }
		/^      "verdict": "holds/ { holds = holds (holds == "" ? "" : ", ") name }
		END {
			while (match(states, /[0-9][0-9][0-9][0-9](,|$)/)) states = substr(states, 1, RSTART) "," substr(states, RSTART + 1)
			printf "| `%s` | %s | %.1f | %s |\n", command, states, seconds, holds
		}' "$dir/json"
}

for lock in central central-deny central-stamped token-ring token-ring-lazy raymond naimi-trehel dijkstra; do
	row $lock --nodes 4 --requests unbounded
done
row dijkstra --nodes 2 --property convergence
row lamport --nodes 2 --requests unbounded
row lamport --requests 1
for lock in ricart-agrawala carvalho-roucairol suzuki-kasami ricart-agrawala-token; do
	row $lock --requests unbounded --network unordered
done
for lock in maekawa maekawa-reject sanders bakery bakery-polling; do
	row $lock --requests unbounded
done
row majority --nodes 2 --requests unbounded
row bully --crashes 2 --comebacks 2
row ring-election --nodes 4 --crashes 2 --comebacks 0
row chang-roberts --nodes 4 --crashes 2 --comebacks 1
for lock in central central-stamped token-ring token-ring-lazy suzuki-kasami raymond naimi-trehel \
	ricart-agrawala-token carvalho-roucairol ricart-agrawala maekawa dijkstra lamport bakery majority; do
	row $lock+bully --crashes 1 --pace any
done
for method in ordered wait-die wound-wait banker detect-distributed; do
	row $method --nodes 3 --requests unbounded
done
row detect-central --requests unbounded
