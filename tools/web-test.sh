#!/usr/bin/env bash
# Tests the layout, state and formats of the lab's page and the console, without a browser:
# lab/web/src/test, bundled by esbuild and run by Node's own test runner. Without Node the
# tests are left out with a message, which is an error in continuous integration.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../lab/web"
../../tools/languages.sh >/dev/null
if ! command -v node >/dev/null; then
	echo "web-test: there is no Node: the modules of the lab's page were NOT tested"
	[ "${CI:-}" != true ]
	exit
fi
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
go tool -modfile=../../tools/go.mod esbuild --bundle --platform=node --format=esm --out-extension:.js=.mjs --target=es2022 --charset=utf8 \
	--resolve-extensions=.tsx,.ts,.mjs --tsconfig=tsconfig.json --log-level=warning --sourcemap=inline --outdir="$to" src/test/*.test.ts
node --enable-source-maps --test-reporter=dot --test "$to"/*.mjs || node --enable-source-maps --test-reporter=spec --test "$to"/*.mjs
