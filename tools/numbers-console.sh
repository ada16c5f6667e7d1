#!/usr/bin/env bash
# numbers-console.sh [COMMAND...] measures the console of three real nodes in Chromium and prints
# a table. If COMMAND is given, such as chrt, the benchmark runs under it. With STILE_OUT, it
# prints the table of that output of the benchmark instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=${STILE_OUT:-}
if [ -z "$out" ]; then
	out=$dir/out
	go -C test test -c -o "$dir/page.test" ./page
	(cd test/page && "$@" "$dir/page.test" -test.run '^$' -test.bench '^BenchmarkConsole$' -test.benchtime 6x -test.timeout 20m) >"$out"
fi

cat <<-EOT
	$(nproc) cores, $(uname -sm), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
	$(uptime)

	A cluster of three processes with 10,000 locks that are held, 1,000 requests that wait
	for one of them and 500 that wait for as many others, and three clients that acquire
	two more again and again. Paints are in milliseconds since the page was asked for;
	"shown" is when the page shows the cluster. While a page is open, "page" is how many
	milliseconds its own thread works each second, "nodes" those of all three processes
	together, and "longest" is the longest task for which the page could not answer; 0 is
	below 50. Scrolls are as in make numbers-lab.

EOT
awk '
/^BenchmarkConsole\// {
	delete is
	for (i = 3; i < NF; i += 2) is[$(i + 1)] = $i
	split($1, part, "/")
	view = part[3] == "" ? "no page" : part[3]
	sub(/-[0-9]+$/, "", view)
	if (!(view in seen)) { seen[view] = 1; order[++n] = view }
	for (k in is) all[view, part[2], k] = is[k]
	if (part[2] ~ /^nothing/) all[view, "stay", "nodes-ms/s"] = is["nodes-ms/s"]
}
function cell(view, what, unit) { return (view, what, unit) in all ? sprintf("%7.0f", all[view, what, unit]) : "      –" }
END {
	print "             first paint            stay                   scroll"
	print "             mean  worst  shown    page  nodes  longest    mean  worst"
	for (i = 1; i <= n; i++) {
		v = order[i]
		printf "%-10s%s%s%s %s%s  %s %s%s\n", v, cell(v, "paint", "mean-ms"), cell(v, "paint", "worst-ms"), cell(v, "paint", "run-ms"), cell(v, "stay", "page-ms/s"), cell(v, "stay", "nodes-ms/s"), cell(v, "stay", "longest-ms"), cell(v, "scroll", "mean-ms"), cell(v, "scroll", "worst-ms")
	}
}' "$out"
