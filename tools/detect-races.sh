#!/usr/bin/env bash
# detect-races.sh PACKAGE... runs the packages' everyday tests with the race detector, which needs cgo and a
# C compiler. If there is none, the script installs one if it can; otherwise it reports
# that these tests are left out, which is an error in continuous integration. Without a
# package it only reports what is left out here, if anything.
set -euo pipefail

# compiles reports whether there is a C compiler with its headers.
compiles() { echo '#include <stdlib.h>' | "$@" -fsyntax-only -x c - 2>/dev/null; }

# missing prints what the race detector lacks, or nothing.
missing() {
	local cc
	read -ra cc < <(go env CC)
	if [ "${CGO_ENABLED:-}" = 0 ]; then
		echo "CGO_ENABLED is 0: unset it"
	elif ! compiles "${cc[@]}"; then
		echo "there is no C compiler (${cc[*]}): install gcc or clang"
	fi
}

if [ -z "${CC:-}" ] && [ -n "$(missing)" ] && compiles clang; then
	export CC=clang
fi
why=$(missing)
if [ $# -eq 0 ]; then
	[ -z "$why" ] || echo "the race tests were left out: $why"
	exit
fi

if [[ $why == *compiler* ]] && [ -z "${CC:-}" ] && [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "detect-races: there is no C compiler; installing gcc"
	{ apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev; } || true
	why=$(missing)
fi
if [ -n "$why" ]; then
	if [ "${CI:-}" = true ]; then
		echo "detect-races: cannot run the race tests, which CI must run: $why" >&2
		exit 1
	fi
	echo "detect-races: the race tests were left out: $why"
	exit
fi
# Many of these tests mostly wait, so four packages at a time keep two cores busy.
echo "go test -race $*"
CGO_ENABLED=1 go test -race -vet off -p 4 -timeout 30m "$@"
