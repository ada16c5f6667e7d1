#!/usr/bin/env bash
# Installs what the tests and the site of the lab need, if it is missing and can be
# installed here: Debian's Chromium, without which the tests of the page are skipped with
# a message, and libdeflate, which compresses the static site best. In continuous
# integration a failed installation is an error.
set -euo pipefail

# have "PACKAGE..." LEFT NAME... makes sure that one of the commands NAME... exists: it
# installs the first of the packages that there is.
have() {
	local packages=$1 left=$2 name package
	shift 2
	for name in "$@"; do
		if command -v "$name" >/dev/null; then
			return
		fi
	done
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "tools: there is no $1; installing it"
		apt-get update -q >/dev/null || true
		for package in $packages; do
			if DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$package" >/dev/null; then
				return
			fi
		done
		if [ "${CI:-}" = true ]; then
			echo "tools: cannot install $1, which CI must try the lab's page with" >&2
			exit 1
		fi
	fi
	echo "tools: $1 is missing and cannot be installed here: $left"
}

have "chromium-headless-shell chromium" "tests of the lab's page will be skipped" chromium-headless-shell chromium chromium-browser google-chrome
have libdeflate-tools "the WebAssembly of the static site will be larger" libdeflate-gzip
