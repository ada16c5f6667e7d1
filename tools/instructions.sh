#!/usr/bin/env bash
# instructions.sh COMMIT [PATTERN] counts, with valgrind, the instructions that the
# benchmarks of the simulator and the checker execute with the code of COMMIT and with the
# current code. Unlike times, these counts do not depend on the load of the machine. Both
# run the current benchmarks.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# refuse WHY exits with an error.
refuse() { echo "instructions: $1" >&2; exit 2; }

[ $# -gt 0 ] || refuse "give the commit to compare with: make compare-instructions OLD=COMMIT"
command -v valgrind >/dev/null || refuse "there is no valgrind, which counts them: install it (apt-get install valgrind)"
[ -z "$(git status --porcelain -- . ':!docs')" ] || refuse "there are changes that are not committed, and the table names a commit: commit them first"
old=$(git rev-parse --short --quiet --verify "$1^{commit}") || refuse "there is no commit $1"
new=$(git rev-parse --short HEAD)

export GOMAXPROCS=1 GOGC=off LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for commit in "$old" "$new"; do
	mkdir -p "$dir/$commit"
	git archive "$commit" | tar -x -C "$dir/$commit"
	git archive "$new" lab/sim/{,transactions_}bench_test.go lab/internal/model/bench_test.go | tar -x -C "$dir/$commit"
	(cd "$dir/$commit" && go test -c -trimpath -o sim.test ./lab/sim && go test -c -trimpath -o group.test ./lab/internal/model)
done

# bench PATTERN TIMES TEST [FLAG...] runs each benchmark TIMES times.
bench() {
	local flags=(-test.run '^$' -test.bench "$1" -test.benchtime "$2x" -test.benchmem)
	shift 2
	"$@" "${flags[@]}"
}

# count CASE TEST [FLAG...] prints the instructions of one op, without the first, and its bytes.
count() {
	local case="^${1//\//\$/^}\$" more=1000000
	case $1 in
	*Deadlock*n=10) more=20 ;;
	*Deadlock*n=100) more=4 ;;
	*Deadlock*n=1000 | *Explore*) more=1 ;;
	esac
	for times in 1 $((1 + more)); do
		bench "$case" "$times" valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "${@:2}" 2>&1
	done | awk -v more=$more '/ I +refs:/ { gsub(",", ""); before = now; now = $NF } / B\/op/ { bytes = $(NF - 3) }
		END { printf "%.0f %d", (now - before) / more, bytes }'
}

echo "made by tools/instructions.sh $old${2:+ '$2'} at commit $new; $(nproc) cores, $(uname -sm), $(go env GOVERSION), $(valgrind --version), GOMAXPROCS=1 GOGC=off"
printf '\n%-44s %12s %12s %6s %10s %10s\n' "instructions, and bytes allocated, of an op" "$old" "$new" ratio "$old" "$new"
for test in sim.test "group.test -memory 8388608"; do # Explore would stop after a time limit, not after a fixed amount of work
	bench "${2:-.}" 1 "$dir/$new/"$test | awk '/^Benchmark/ { print $1 }' >"$dir/cases"
	while read -r case; do
		before=($(count "$case" "$dir/$old/"$test)) after=($(count "$case" "$dir/$new/"$test))
		ratio=$(awk "BEGIN { printf \"%.3f\", ${after[0]} / ${before[0]} }")
		printf '%-44s %12d %12d %6s %10d %10d\n' "${case#Benchmark}" "${before[0]}" "${after[0]}" "$ratio" "${before[1]}" "${after[1]}" | tee -a "$dir/table"
	done <"$dir/cases"
done
sort -nk4 "$dir/table" | awk '{ ratio[NR] = $4 } END { printf "\n%d benchmarks: ratio at most %s, in the middle %s\n", NR, ratio[NR], ratio[int((NR + 1) / 2)] }'
