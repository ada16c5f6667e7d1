#!/usr/bin/env bash
# Acquires, keeps, loses and releases a lock with curl and sed.
# STILE_URL is the HTTP address of a node.
set -euo pipefail
url=${STILE_URL:-http://127.0.0.1:7421}

# call METHOD JSON prints the answer; an error, too, which then has a code and a message.
call() { curl -sS "$url/stile.v1.$1" -H 'Content-Type: application/json' -d "$2"; }

# field NAME prints a field of the answer on standard input.
field() { sed -nE "s/.*\"$1\": ?\"([^\"]*)\".*/\1/p"; }

session=$(call Locks/OpenSession '{"label":"nightly job"}' | field session)
trap 'call Locks/CloseSession "{\"session\":\"$session\"}" >/dev/null' EXIT

# Count valid_for from before the request is sent.
before=$SECONDS
answer=$(call Locks/Acquire "{\"session\":\"$session\",\"name\":\"jobs/nightly\",\"wait\":\"30s\"}")
valid=$(field validFor <<<"$answer")
token=$(field token <<<"$answer")
echo "held with token $token, for $((before + ${valid%%[.s]*} - SECONDS)) s unless kept alive"

# A third of the session's length is a good interval; here, there is nothing to wait for.
for i in 1 2 3; do
	if [ "$i" = 3 ]; then # what an operator may do at any time
		call Cluster/ForceRelease '{"name":"jobs/nightly"}' >/dev/null
	fi
	answer=$(call Locks/KeepAlive "{\"session\":\"$session\"}")
	if grep -q '"lost"' <<<"$answer"; then
		echo "lost: $(field reason <<<"$answer")"
		break # stop the work
	fi
	echo "kept alive"
done

# The token says which hold is released, if the call is delayed on its way.
answer=$(call Locks/Release "{\"session\":\"$session\",\"name\":\"jobs/nightly\",\"token\":\"$token\"}")
echo "release says: $(field code <<<"$answer")"

answer=$(call Locks/Acquire "{\"session\":\"$session\",\"name\":\"jobs/nightly\"}")
token=$(field token <<<"$answer")
echo "held again with token $token"
call Locks/SetValue "{\"session\":\"$session\",\"name\":\"jobs/nightly\",\"value\":\"row 7\"}" >/dev/null
value=
while [ -z "$value" ]; do # lists show it soon
	value=$(call Cluster/ListLocks '{"prefix":"jobs/nightly"}' | field value)
done
echo "listed with the value $value"
answer=$(call Locks/Release "{\"session\":\"$session\",\"name\":\"jobs/nightly\",\"token\":\"$token\"}")
echo "released token $(field token <<<"$answer")"
