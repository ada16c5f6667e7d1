#!/usr/bin/env bash
# Installs Debian's Chromium if there is no such browser and this machine allows
# that: the page of the lab is tried in a real one. Without it those tests are
# skipped, aloud.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
	if command -v "$name" >/dev/null; then
		exit 0
	fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium >/dev/null 2>&1; then
	exit 0
fi
echo "tools: Chromium is missing and cannot be installed here: tests of the lab's page will be skipped"
