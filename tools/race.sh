#!/usr/bin/env bash
# race.sh installs the servers that 'make race' measures stile beside, if they are missing and
# can be installed here. None of their services is started. The race leaves out what is missing.
set -euo pipefail

need=()
command -v redis-server >/dev/null || need+=(redis-server)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || need+=(postgresql)
command -v java >/dev/null || need+=(default-jre-headless)
[ -e /usr/share/java/zookeeper.jar ] || need+=(zookeeper libzookeeper-java libnetty-java)
if [ ${#need[@]} -eq 0 ]; then
	exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "race: these are missing and cannot be installed here: ${need[*]}"
	exit
fi
echo "race: installing ${need[*]}"
policy=/usr/sbin/policy-rc.d # tells packages whether they may start services
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi
# Another installation may be in progress.
wait=(-o DPkg::Lock::Timeout=300)
log=$(mktemp)
apt-get update -q "${wait[@]}" >"$log" 2>&1 || true # what is known may be enough
DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${wait[@]}" "${need[@]}" >>"$log" 2>&1 ||
	{ tail -n 5 "$log"; echo "race: not all of them could be installed"; }
rm -f "$log"
