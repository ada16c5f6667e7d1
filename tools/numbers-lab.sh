#!/usr/bin/env bash
# numbers-lab.sh [COMMAND...] measures the lab's page in Chromium and prints a table. If
# COMMAND is given, such as chrt, the benchmarks run under it. It takes several minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go -C test test -c -o "$dir/page.test" ./page
go test -c -o "$dir/web.test" ./lab/web

# bench TIMES PATTERN [COMMAND...] runs the benchmarks that match PATTERN.
bench() {
	local times=$1 pattern=$2
	shift 2
	(cd test/page && "$@" "$dir/page.test" -test.run '^$' -test.bench "$pattern" -test.benchtime "$times" -test.timeout 20m) >>"$dir/out"
}

(cd lab/web && "$dir/web.test" -test.run '^$' -test.bench '^BenchmarkWeight$' -test.benchtime 1x) >>"$dir/out"
bench 60x '^BenchmarkPaint$' "$@"
bench 10x '^BenchmarkNewPaint$' "$@"
bench 150x '^BenchmarkFrame$' "$@"
bench 10x '^BenchmarkFirstStep$' "$@"
bench 150x '^Benchmark(Step|Scroll)$' "$@"

cat <<-EOF
	$(nproc) cores, $(uname -sm), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
	$(for name in chromium-headless-shell chromium chromium-browser google-chrome; do command -v "$name" >/dev/null && echo "$("$name" --version), $name" && break; done)
	$(uptime)

	A large run is one of 100 processes and 50,673 events. For steps and scrolls the
	time of the page's own thread counts until two pictures later; what two pictures
	cost in which nothing is new is told too. For a paint the time since it was asked
	for counts. All in milliseconds.

EOF
awk '
function row(said) {
	printf "%-41s %6.1f %6.1f %6.1f", said, is["mean-ms"], is["most-ms"], is["worst-ms"]
	if ("script-ms" in is) printf " %6.1f %6.1f %6.0f%%", is["script-ms"], is["layout-ms"], is["%late"]
	printf "\n"
}
BEGIN {
	said["Paint/empty"] = "first paint of an empty page"
	said["Paint/lab"] = "first paint of the lab; below 300"
	said["NewPaint"] = "the same, in a browser that never saw it"
	said["Frame/empty"] = "two pictures of an empty page"
	said["Frame/large"] = "two pictures of a large run"
	said["FirstStep"] = "first step of a large run; below 50"
	said["Step/beginning"] = "steps from its beginning; below 50"
	said["Step/middle"] = "steps from its middle; below 50"
	said["Scroll"] = "scrolling its diagram; mostly below 16"
	printf "%-41s %6s %6s %6s %6s %6s %7s\n", "", "mean", "19/20", "worst", "script", "layout", "over 16"
}
/^Benchmark/ {
	delete is
	for (i = 3; i < NF; i += 2) is[$(i + 1)] = $i
	name = substr($1, 10)
	sub(/-[0-9]+$/, "", name)
	if ("bytes" in is) weight = is["bytes"]
	else row(name in said ? said[name] : name)
}
END { printf "\nThe page weighs %d bytes, compressed.\n", weight }' "$dir/out"
