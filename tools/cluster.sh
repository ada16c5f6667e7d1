#!/usr/bin/env bash
# cluster.sh FAULTS [FIGURES] runs real processes on a faulty network with FAULTS faults,
# and writes the results to the file FIGURES, if given. The tests of that package do so
# briefly in 'make tests'. All need Linux, root, iproute2 and, for disk faults, strace.
# What is missing is installed if possible. Otherwise the script reports what is left out,
# which is an error in continuous integration where it could be installed.
# 'cluster.sh install' only installs. Without an argument the script only reports what is
# left out here, if anything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing() {
	command -v ip >/dev/null || echo iproute2
	command -v strace >/dev/null || echo strace
}

# left prints what cannot run here, or nothing.
left() {
	local try="stile-$$-try"
	if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
		echo "real processes on a broken network were left out: that needs Linux and root"
	elif ! ip netns add "$try" 2>/dev/null; then
		echo "real processes on a broken network were left out: there is no 'ip', or it cannot make network namespaces"
	elif ip netns del "$try"; ! strace -f -o /dev/null -e inject=fsync:error=EIO true 2>/dev/null; then
		echo "disks that fail were left out: strace is missing, or does not work"
	fi
}

if [ $# -eq 0 ]; then
	left
	exit
fi
faults=$1 figures=${2:-}

if [ "$(uname -s)" != Linux ]; then
	[ "$faults" != install ] || exit 0
	echo "cluster: LEFT OUT: real processes on a broken network need Linux"
	exit
fi

if [ -n "$(missing)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "cluster: installing" $(missing)
	{ apt-get update -q && apt-get install -qy --no-install-recommends $(missing); } || true
	if [ -n "$(missing)" ] && [ "${CI:-}" = true ]; then
		echo "cluster: cannot install what CI must have:" $(missing) >&2
		exit 1
	fi
fi

[ "$faults" != install ] || exit 0

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
args=(-run '^(TestCluster|TestProxies)$' -count 1 -v -timeout 2h -args -faults "$faults")
if [ -n "$figures" ]; then
	args+=(-figures "$dir/figures")
	commit=$(git rev-parse --short=12 HEAD)
	if [ -n "$(git status --porcelain -- . ":!$figures")" ]; then
		commit="$commit with changes"
	fi
	printf "made by 'make check-cluster' at commit %s, %d cores, %s, %s\n\n" "$commit" "$(nproc)" "$(uname -srm)" "$(go env GOVERSION)" >"$dir/figures"
fi
shown='LEFT OUT|seed |to recover$|caught after|increments without|^ *---|^ok|^FAIL|^PASS'
if ! STILE_NIGHTLY=1 go -C test test -vet off ./cluster "${args[@]}" 2>&1 | tee "$dir/log" | grep --line-buffered -E "$shown"; then
	cat "$dir/log"
	exit 1
fi
if [ -n "$figures" ]; then
	if grep -q 'LEFT OUT' "$dir/log"; then
		echo "cluster: something was left out, so $figures stays as it is" >&2
		exit 1
	fi
	sed -i -e :a -e '/^\n*$/{$d;N;ba' -e '}' "$dir/figures"
	mv "$dir/figures" "$figures"
fi
