#!/usr/bin/env bash
# Prints the licences of everything that is linked into the commands, for a release.
set -euo pipefail
export LC_ALL=C

{
	echo "$(go env GOROOT)|The Go standard library, $(go env GOVERSION)"
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Dir}}|{{.Path}} {{.Version}}{{end}}{{end}}' ./cmd/... | sort -u
} | while IFS='|' read -r dir what; do
	find "$dir" -maxdepth 1 -type f | grep -iE '/(licen[cs]e|copying|notice)(\.[a-z]+)?$' | sort | while read -r file; do
		printf '%s: %s\n\n%s\n\n\n' "$what" "${file##*/}" "$(cat "$file")"
	done || { echo "licences: $what has no licence in $dir" >&2; exit 1; }
done
printf 'The page of the lab:\n\n%s\n' "$(cat lab/web/dist/licences.txt)"
