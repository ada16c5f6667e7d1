#!/usr/bin/env bash
# Shares a lock, uses a semaphore, resolves a deadlock between two transactions, and elects a
# leader, with curl and sed. STILE_URL is the HTTP address of a node.
set -euo pipefail
url=${STILE_URL:-http://127.0.0.1:7421}

# call METHOD JSON prints the answer; an error, too, which then has a code and a message.
call() { curl -sS "$url/stile.v1.$1" -H 'Content-Type: application/json' -d "$2"; }

# field NAME prints a field of the answer on standard input.
field() { sed -nE "s/.*\"$1\": ?\"([^\"]*)\".*/\1/p"; }

ann=$(call Locks/OpenSession '{"label":"ann"}' | field session)
bob=$(call Locks/OpenSession '{"label":"bob"}' | field session)
trap 'for s in "$ann" "$bob"; do call Locks/CloseSession "{\"session\":\"$s\"}" >/dev/null; done' EXIT

# Many readers, or one writer.
for s in "$ann" "$bob"; do
	answer=$(call Locks/Acquire "{\"session\":\"$s\",\"name\":\"kept/catalogue\",\"shared\":true}")
	echo "held in mode $(field mode <<<"$answer") with token $(field token <<<"$answer")"
done
answer=$(call Locks/TryAcquire "{\"session\":\"$bob\",\"name\":\"kept/catalogue\",\"key\":\"write\"}")
echo "a writer finds it $(grep -o busy <<<"$answer")"

# Two of the five units of a semaphore.
answer=$(call Locks/Acquire "{\"session\":\"$ann\",\"name\":\"kept/licences\",\"units\":2,\"of\":5}")
echo "held in mode $(field mode <<<"$answer") with token $(field token <<<"$answer")"

# Two transactions acquire two locks, in opposite orders.
begin() { call Locks/Begin "{\"session\":\"$1\"}" | field transaction; }
within() { call "Locks/$1" "{\"session\":\"$2\",\"transaction\":\"$3\"${4:+,\"name\":\"$4\"}}"; }
a=$(begin "$ann")
b=$(begin "$bob")
within Acquire "$ann" "$a" kept/account/1 >/dev/null
within Acquire "$bob" "$b" kept/account/2 >/dev/null
exec 3< <(within Acquire "$ann" "$a" kept/account/2) # it waits
answer=$(within Acquire "$bob" "$b" kept/account/1)
echo "bob is $(field code <<<"$answer"), because of a $(field how <<<"$answer")"
b=$(within Retry "$bob" "$b" | field transaction) # as old as before
echo "ann has both with token $(cat <&3 | field token)"
echo "ann commits: $(within Commit "$ann" "$a")"
for name in kept/account/2 kept/account/1; do
	answer=$(within Acquire "$bob" "$b" "$name")
	echo "bob has $name with token $(field token <<<"$answer")"
done
echo "bob commits: $(within Commit "$bob" "$b")"

# The holder of a lock with a value leads the election of that name.
call Locks/Acquire "{\"session\":\"$ann\",\"name\":\"scheduler\",\"value\":\"10.0.0.7:8080\"}" >/dev/null
leader=
while [ -z "$leader" ]; do # it is seen soon
	leader=$(call Cluster/Leader '{"name":"scheduler"}' | field value)
done
echo "leader at $leader"
