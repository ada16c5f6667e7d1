#!/usr/bin/env bash
# Installs Debian's Chromium if there is no such browser and this machine allows
# that: the page of the lab is tried in a real one. Without it those tests are
# skipped, aloud; in continuous integration it is an error if it could be had and
# was not.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
	if command -v "$name" >/dev/null; then
		exit 0
	fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "tools: there is no Chromium; installing it"
	if { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium; } >/dev/null; then
		exit 0
	fi
	if [ "${CI:-}" = true ]; then
		echo "tools: cannot install Chromium, in which CI must try the lab's page" >&2
		exit 1
	fi
fi
echo "tools: Chromium is missing and cannot be installed here: tests of the lab's page will be skipped"
