#!/usr/bin/env bash
# Updates lab/web/vendor from npm packages: the bundled code, its types and its licences.
# Change a version here, run the script, write the version into lab/web/vendor/README.md, and
# run 'make web'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preact=11.2.0
signals=2.11.4
core=1.14.5

to=$PWD/web/vendor
from=$(mktemp -d)
trap 'rm -rf "$from"' EXIT

unpack() { # NAME VERSION FOLDER
	(cd "$from" && mkdir "$3" && tar xzf "$(npm pack --silent "$1@$2")" -C "$3" --strip-components 1)
}

# take copies the file $1 to $2, without the line that names its source map.
take() {
	mkdir -p "$(dirname "$to/$2")"
	sed '/^\/\/# sourceMappingURL=/d' "$from/$1" >"$to/$2"
}

unpack preact $preact preact
unpack @preact/signals $signals signals
unpack @preact/signals-core $core signals-core
rm -rf "$to"/{preact,signals,signals-core}

take preact/LICENSE preact/LICENSE
take preact/dist/preact.mjs preact/src/index.mjs
for name in index dom jsx; do take preact/src/$name.d.ts preact/src/$name.d.ts; done
take preact/hooks/dist/hooks.mjs preact/hooks/src/index.mjs
take preact/hooks/src/index.d.ts preact/hooks/src/index.d.ts
take preact/jsx-runtime/dist/jsxRuntime.mjs preact/jsx-runtime/src/index.mjs
take preact/jsx-runtime/src/index.d.ts preact/jsx-runtime/src/index.d.ts
for name in signals signals-core; do
	take $name/LICENSE $name/LICENSE
	take $name/dist/$name.mjs $name/index.mjs
	take $name/dist/$name.d.ts $name/index.d.ts
done
