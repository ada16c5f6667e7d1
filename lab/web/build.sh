#!/usr/bin/env bash
# Bundles the page of the lab into the folder $1 and, if $2 is a folder, that of the console
# into that one; if it is --site, what the static build of the lab needs. The same sources give the same bytes, on every machine; but for how well the
# WebAssembly is compressed.
set -euo pipefail

to=$(mkdir -p "$1" && cd "$1" && pwd)
[ "$2" = --site ] || console=$(mkdir -p "$2" && cd "$2" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
bundle() {
	go tool -modfile=../../tools/go.mod esbuild --bundle --minify --charset=utf8 --target=es2022 --resolve-extensions=.tsx,.ts,.mjs \
		--tsconfig=tsconfig.json --legal-comments=none --log-level=warning "$@"
}

bundle --format=esm --outdir="$to" app=src/main.tsx
for name in preact signals signals-core; do
	printf '%s\n\n%s\n\n' "$name" "$(cat vendor/$name/LICENSE)"
done >"$to/licences.txt"
if [ "$2" != --site ]; then
	cp src/index.html "$to/index.html"
	bundle --format=esm --outdir="$console" console=src/console/main.tsx
	cp src/console/index.html "$to/licences.txt" "$console"
	exit
fi

# What the server says in headers, the page says itself. Its worker is not bound by
# that, so the page needs no leave to compile WebAssembly.
sed -e 's|<meta name="stile-backend" content="server">|<meta name="stile-backend" content="worker">|' \
	-e "s|<meta charset=\"utf-8\">|&\n<meta http-equiv=\"Content-Security-Policy\" content=\"$(cat src/policy.txt)\">|" src/index.html >"$to/index.html"
bundle --format=iife --outfile="$to/worker.js" src/worker.ts
bundle --outfile="$to/wasm_exec.js" "$(go env GOROOT)/lib/wasm/wasm_exec.js"
printf 'go\n\n%s\n\n' "$(cat "$(go env GOROOT)/LICENSE")" >>"$to/licences.txt"
# Functions are not inlined into each other, which makes the module smaller by an
# eighth; checks take more time by it, half as much again in one try. Where it costs nothing they are.
GOOS=js GOARCH=wasm go build -trimpath -buildvcs=false -ldflags '-s -w' -gcflags=all=-l -gcflags=internal/runtime/...= -o "$to/stile.wasm" ./wasm
go run ./pack "$to/stile.wasm"
if command -v libdeflate-gzip >/dev/null; then
	libdeflate-gzip -12 -f "$to/stile.wasm" # smaller by a twentieth
else
	gzip -9 -n -f "$to/stile.wasm"
fi
