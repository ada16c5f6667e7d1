#!/usr/bin/env bash
# tla.sh JAR prints a table of locks explored by stile and by TLC, the model
# checker of TLA+. JAR is TLC's tla2tools.jar; java must be in the PATH. It exits with 1 if
# the two do not agree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ $# -ne 1 ] || [ ! -f "$1" ]; then
	echo "tla: give the file tla2tools.jar: make tla TLC=path/to/tla2tools.jar" >&2
	exit 2
fi
jar=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stile-lab" ./cmd/stile-lab
commit=$(git rev-parse --short=12 HEAD)
if [ -n "$(git status --porcelain)" ]; then
	commit+=" with changes that are not committed"
fi
cd "$dir"

# key NAME FILE prints the value of a key of the outermost object of a JSON file.
key() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$2"; }

# tlc LINE... runs TLC on the module with these lines as its configuration.
tlc() {
	printf '%s\n' "$@" 'CHECK_DEADLOCK FALSE' >Lock.cfg
	java -XX:+UseParallelGC -cp "$jar" tlc2.TLC -workers 1 -metadir "$dir/meta" Lock >tlc.out 2>&1 || true
	if ! grep -q 'distinct states found' tlc.out; then
		cat tlc.out >&2
		echo "tla: TLC did not come to its end" >&2
		exit 2
	fi
}

# found WHAT reports whether TLC found that violated. Anything that it does not understand
# ends the script.
found() {
	if grep -q "^Error: $1" tlc.out; then
		return 0
	elif ! grep -q 'No error has been found' tlc.out; then
		cat tlc.out >&2
		echo "tla: TLC reported something else" >&2
		exit 2
	fi
	return 1
}

# steps INVARIANT prints after how many steps TLC finds it violated, or -1.
steps() {
	tlc 'SPECIFICATION Spec' "INVARIANT $1"
	if found "Invariant $1 is violated"; then
		echo $(($(grep -c '^State [0-9]*:' tlc.out) - 1))
	else
		echo -1
	fi
}

# told STEPS prints what is known of a property.
told() { [ "$1" -lt 0 ] && echo holds || echo "violated ($1)"; }

# both OURS TLC prints a cell, and notes whether the two differ.
both() {
	if [ "$1" = "$2" ]; then
		echo "$1"
	else
		echo "**$1, TLC $2**"
		touch "$dir/differ"
	fi
}

row() {
	local ours=$* exclusion=-1 deadlock=-1 starvation=holds fair='' waits generated distinct depth
	./stile-lab check "$@" --property mutual-exclusion,deadlock,starvation --json >check.json 2>check.err || [ $? -eq 1 ]
	./stile-lab check "$@" --tla Lock.tla --json >export.json
	if grep -q '^FairSpec' Lock.tla; then
		fair=yes
	fi
	tlc "SPECIFICATION ${fair:+Fair}Spec" 'INVARIANTS MutualExclusion NoDeadlock' ${fair:+'PROPERTY NoStarvation'}
	if ! grep -q 'No error has been found' tlc.out; then
		exclusion=$(steps MutualExclusion) deadlock=$(steps NoDeadlock)
		if [ "$fair" ]; then
			tlc 'SPECIFICATION FairSpec' 'PROPERTY NoStarvation'
			if found 'Temporal propert.* violated'; then
				starvation=violated
			fi
		fi
		tlc 'SPECIFICATION Spec'
	fi
	generated=$(sed -n 's/^\([0-9]*\) states generated, .*/\1/p' tlc.out)
	distinct=$(sed -n 's/^[0-9]* states generated, \([0-9]*\) distinct.*/\1/p' tlc.out)
	depth=$(sed -n 's/^The depth of the complete state graph search is \([0-9]*\)\.$/\1/p' tlc.out)
	waits=$(sed -n '/"name": "starvation"/,/"verdict"/s/.*"verdict": "\(holds\|violated\).*/\1/p' check.json)
	if [ "$fair" ]; then
		starvation=$(both "$waits" "$starvation")
	else
		starvation="$waits, TLC not asked"
	fi
	echo "| \`stile-lab check $ours --tla Lock.tla\` | $(key states check.json) | $(both "$(key states export.json)" "$distinct") | $(both "$(key generated export.json)" "$generated") | $(both "$(key depth export.json)" "$depth") | $(both "$(told "$(key mutual_exclusion export.json)")" "$(told "$exclusion")") | $(both "$(told "$(key deadlock export.json)")" "$(told "$deadlock")") | $starvation |"
}

rows() {
	row central --requests unbounded
	row central --nodes 4 --requests unbounded
	row central-deny --requests unbounded
	row token-ring --requests unbounded
	row token-ring-lazy --requests unbounded
	row raymond --requests unbounded
	row raymond --nodes 4 --requests unbounded --start any
	row naimi-trehel --requests unbounded
	row naimi-trehel --nodes 4 --requests unbounded
	row ricart-agrawala --requests 1
	row ricart-agrawala --requests 2
	row ricart-agrawala --requests 1 --network unordered
	row carvalho-roucairol --requests 1
	row lamport --requests 1
	row suzuki-kasami --requests 2
	row suzuki-kasami --requests 1 --network unordered
	row maekawa --requests 1
	row maekawa --requests 2
	row dijkstra --requests 1
	row lamport --nodes 2 --requests 2 --network unordered
	row maekawa --requests 1 --network unordered
	row central --requests unbounded --network lossy
}

rows >rows
cat <<END
# Counted again by TLC

Each row is a lock that \`stile-lab check --tla\` wrote as a TLA+ module and that TLC, the model checker of TLA+, explored.
The module has tables of what each machine does in each of its states with each input, made by running it. The network
and the applications are written in TLA+. So TLC tests our explorer and its model of networks and applications, but not
the code that runs one machine. The export renumbers nothing and merges no messages; *canonical* is the number of states
of the usual check, which does both.

A cell has one value if stile and TLC agree, and otherwise two. *Generated* counts transitions and initial states, as TLC
does. *Depth* is the number of levels of a breadth-first search. A violated property has the number of steps to its first
violation; the last three rows are controls, on networks that their algorithms do not tolerate. TLC checks starvation
only where links keep the order of messages.

Made by \`make tla\` at commit $commit, with $(sed -n 's,^TLC2 Version \(.*\)$,TLC \1,p' tlc.out) and Java $(java -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p').

| command | canonical | states | generated | depth | mutual exclusion | no deadlock | no starvation |
|---|--:|--:|--:|--:|---|---|---|
END
cat rows
if [ -e differ ]; then
	echo "tla: stile and TLC do not agree: see the cells in bold" >&2
	cat rows >&2
	exit 1
fi
