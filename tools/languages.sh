#!/usr/bin/env bash
# Installs curl, Python and Node if they are missing and can be installed here: the scripts
# of docs/http.md run in them. Without them their tests are left out with a message, which
# is an error in continuous integration where they could be installed. With the argument
# 'left' the script only reports what is left out here, if anything.
set -euo pipefail

# missing prints the programs that are not installed.
missing() {
	local all=()
	for p in curl python3 node; do
		command -v "$p" >/dev/null || all+=("$p")
	done
	echo "${all[*]}"
}

left=$(missing)
if [ -z "$left" ]; then
	exit
fi
why="the scripts of docs/http.md were not all run: install $left"
if [ "${1:-}" = left ]; then
	echo "$why"
	exit
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "tools: installing $left"
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends ${left/node/nodejs}; } || true
	left=$(missing)
	if [ -z "$left" ]; then
		exit
	fi
	if [ "${CI:-}" = true ]; then
		echo "tools: $left cannot be installed, and CI must run the scripts of docs/http.md" >&2
		exit 1
	fi
fi
echo "tools: ${why/were not all/will not all be}"
