#!/usr/bin/env bash
# Installs PostgreSQL if it is missing and can be installed here: the fences of
# docs/fencing.md are tested on a real one. Without it their tests are left out with a
# message, which is an error in continuous integration where it could be installed. With
# the argument 'left' the script only reports what is left out here, if anything.
set -euo pipefail

there() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; }

if there; then
	exit
fi
why="the tests of fences were left out: there is no PostgreSQL: install it"
if [ "${1:-}" = left ]; then
	echo "$why"
	exit
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "tools: there is no PostgreSQL; installing it"
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends postgresql; } || true
	if there; then
		exit
	fi
	if [ "${CI:-}" = true ]; then
		echo "tools: PostgreSQL cannot be installed, and CI must try fences on it" >&2
		exit 1
	fi
fi
echo "tools: ${why/were/will be}"
