# Everything that decides whether a change is good is in 'make check'.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Fuzzing is bounded by a count, not by a time: in Go 1.26 a time that runs out
# can fail a good target (go.dev/issue/75804).
FUZZTIME ?= 20000x

# How many seeds 'make storm' storms; 'make ledger' takes them, the first seed, and
# other flags of 'stile storm'.
SEEDS ?= 2000
FROM  ?= 1
FLAGS ?=

# How long and with how many clients 'make numbers-node' measures, and what runs it and
# 'make numbers-lab': on a machine that has other work, PRIORITY="chrt -r 50" (as root, on
# Linux) puts that off.
NODE     ?= --time 10s --idle 10m --clients 10000
PRIORITY ?=

# What a benchmark is asked for, such as BENCH=Sim.
BENCH ?= .

# The commit that 'make compare-instructions' compares with.
OLD ?=

# Which package 'make mutants' mutates, how many of its mutants it runs, of which seed,
# and whether survivors run again; it runs all that have no result yet if nothing is said.
PACKAGE ?=
SAMPLE  ?= 0
SEED    ?= 1
AGAIN   ?=

staticcheck := go tool -modfile=tools/go.mod staticcheck

# Packages that start goroutines, those that give them jobs, and the models that
# they explore, but not cmd/stile, whose tests run whole commands for minutes, nor what is for
# browsers alone; packages that have fuzz targets; packages that can rewrite golden files.
concurrent = $(shell { grep -rlE --include='*.go' '^[[:space:]]*go [[:alpha:]]|[.]Go[^[:alnum:][:space:],]' . | xargs -r dirname; echo ./check; echo ./internal/world/model; echo ./internal/world/compare; echo ./internal/live/storm/sweep; echo ./internal/world/calls; } | grep -vxE "./cmd/stile|./web/wasm" | sort -u)
fuzzed     = $(shell grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r dirname | sort -u)
golden     = $(shell grep -rl --include='*_test.go' 'flag.Bool.*"update"' . | xargs -r dirname | sort -u)

.PHONY: help check tools fmt vet lint test race fuzz storm cluster check-cluster ledger bench numbers compare-instructions numbers-live numbers-node numbers-lab golden museum faults controls live nightly mutants proofs proofs-long proofs-view web web-check skeleton site screenshots

help: ## show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

check: tools fmt vet lint web-check test race fuzz storm cluster ## all that must pass before a change is good
	@left=$$({ tools/race.sh; tools/postgres.sh left; tools/cluster.sh; } | paste -sd ';' - | sed 's/;/; /g'); echo "check: all good$${left:+, but $$left}"

tools: ## download what the other targets need
	go mod download
	go mod download -modfile=tools/go.mod
	@tools/postgres.sh
	@tools/browser.sh
	@tools/cluster.sh install

fmt: ## every file is formatted
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted (run gofmt -w):"; echo "$$bad"; exit 1; fi

# What is compiled for the other system is never run, so nothing of it is optimised.
vet: ## go vet, for both systems that stile builds on
	GOOS=linux go vet ./...
	GOOS=darwin go vet -gcflags='all=-N -l' ./...

lint: ## staticcheck
	$(staticcheck) ./...

test: ## all tests, those of style included; those that wait for a browser begin first
	go test -vet off -timeout 30m ./web ./...

race: ## tests of packages with goroutines, with the race detector; needs a C compiler
	@if [ -n "$(concurrent)" ]; then tools/race.sh $(concurrent); fi

fuzz: ## a little of every fuzz target
	@test=$$(mktemp); trap 'rm -f "$$test"' EXIT; cache=$$(go env GOCACHE)/fuzz/$$(go list -m); \
	for package in $(fuzzed); do \
		go test -vet off -c -fuzz . -o "$$test" "$$package"; \
		for name in $$("$$test" -test.list '^Fuzz'); do \
			echo "fuzz $$package $$name"; \
			(cd "$$package"; "$$test" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 100x -test.fuzzcachedir "$$cache/$$package"); \
		done; \
	done

web: ## bundle the page of the lab into web/dist, which is committed
	web/build.sh web/dist

web-check: ## the page of the lab has right types, and web/dist is what it bundles to
	tools/tsc.sh --project web/tsconfig.json
	@new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; web/build.sh "$$new"; \
	diff -rq "$$new" web/dist || { echo "web/dist is not what web/src bundles to: run make web"; exit 1; }

skeleton: ## write into index.html what the page shows first; needs Chromium
	go test ./web -run TestSkeleton -count 1 -skeleton
	$(MAKE) web

screenshots: ## make the pictures docs/lab-*.png from the real page; needs Chromium
	go test ./web -run TestShots -count 1 -shots ../docs

site: ## the lab as a static site below site/, for any web server
	rm -rf site
	web/build.sh site --site
	@cd site && wc -c *

storm: ## the storms of the first seeds, or SEEDS=N
	go build -o bin/stile ./cmd/stile
	bin/stile storm --seeds $(SEEDS)

cluster: ## real processes on a broken network, a few minutes; Linux and root
	tools/cluster.sh 38

check-cluster: ## the same at length, and make docs/results/cluster-run.txt; some 10 minutes
	tools/cluster.sh 190 docs/results/cluster-run.txt

ledger: ## add a row to docs/results/storm-ledger.md: FROM=N SEEDS=N FLAGS="..."
	tools/ledger.sh $(FROM) $(SEEDS) $(FLAGS)

bench: ## all benchmarks, or BENCH=NAME
	go test ./... -run '^$$' -bench '$(BENCH)' -benchmem

numbers: ## make docs/results/bench.txt: the benchmarks that the documentation quotes
	{ echo "made by 'make numbers' at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm)"; \
	  go test ./sim ./internal/world/model -run '^$$' -bench 'Events|Explore' -benchmem -count 3 -timeout 30m; } > docs/results/bench.txt.new
	mv docs/results/bench.txt.new docs/results/bench.txt

compare-instructions: ## make docs/results/bench-instructions.txt: the same ones by valgrind, compared with OLD=COMMIT; some 15 minutes, needs valgrind
	tools/instructions.sh $(OLD) > docs/results/bench-instructions.txt.new
	mv docs/results/bench-instructions.txt.new docs/results/bench-instructions.txt

numbers-live: ## measure the speed of a live member into docs/results/bench-live.txt
	{ echo "made by 'make numbers-live' at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm)"; \
	  go test ./internal/live/member -run '^$$' -bench 'Local|Frame' -benchmem -benchtime 300000x -count 3 -timeout 30m; \
	  go test ./internal/live/member -run '^$$' -bench ViewChange -benchtime 1x -count 3 -timeout 30m; } > docs/results/bench-live.txt.new
	mv docs/results/bench-live.txt.new docs/results/bench-live.txt

numbers-node: ## measure a cluster of three processes into docs/results/bench-node.txt
	go build -buildvcs=true -o bench.tmp ./cmd/stile
	{ echo "made by 'make numbers-node' at commit $$(git rev-parse --short HEAD), of $(strip $(PRIORITY) stile bench $(NODE))"; uptime; $(PRIORITY) ./bench.tmp bench $(NODE); } > docs/results/bench-node.txt.new
	rm bench.tmp
	mv docs/results/bench-node.txt.new docs/results/bench-node.txt

numbers-lab: ## measure the page of the lab into docs/results/bench-lab.txt, some 5 minutes; needs Chromium
	{ echo "made by 'make numbers-lab' at commit $$(git rev-parse --short HEAD)$(if $(PRIORITY), with $(strip $(PRIORITY)))"; tools/numbers-lab.sh $(PRIORITY); } > docs/results/bench-lab.txt.new
	mv docs/results/bench-lab.txt.new docs/results/bench-lab.txt

golden: ## rewrite the golden files; read the difference before you commit it
	go test $(golden) -update
	git status --short -- '*testdata*' docs

museum: ## make docs/results/museum.md: famous algorithms that fail
	go run ./cmd/stile check --museum > docs/results/museum.md.new
	mv docs/results/museum.md.new docs/results/museum.md

faults: ## make docs/results/faults.md: what one fault does to every lock
	go run ./cmd/stile check --faults > docs/results/faults.md.new
	mv docs/results/faults.md.new docs/results/faults.md

controls: ## make docs/results/storm-controls.md: how often the storm finds each broken rule
	go test ./internal/live/controls -run '^TestPage$$' -count 1 -page ../../../docs/results/storm-controls.md -at $$(git rev-parse --short HEAD) -timeout 60m

live: ## make docs/results/live.md: what live locks cost, and what a crash does
	go run ./internal/live/measure/page "measured at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm), $$(go env GOVERSION)" > docs/results/live.md.new
	mv docs/results/live.md.new docs/results/live.md

# Not here are the proofs, which take hours and much memory, and the numbers, which need an
# idle machine.
nightly: ## run the long settings of tests, and make most of docs/results again
	STILE_NIGHTLY=1 go test ./cmd/stile -count 1 -walk 200 -seeds 3 -timeout 2h
	$(MAKE) proofs-view museum faults controls live

mutants: ## make docs/mutants.md: which small changes of the live core no test notices; hours, or PACKAGE=member SAMPLE=200 SEED=1 AGAIN=1
	go build -o bin/mutants ./internal/live/mutants
	nice bin/mutants -package "$(PACKAGE)" -sample $(SAMPLE) -seed $(SEED) $(if $(AGAIN),-again)

proofs: ## make docs/results/proofs.md and proofs-long.md: what is proved; hours
	go build -buildvcs=true -o proofs.tmp ./cmd/stile
	./proofs.tmp check --proofs --memory 8GiB > docs/results/proofs.md.new
	rm proofs.tmp
	mv docs/results/proofs.md.new docs/results/proofs.md
	$(MAKE) proofs-long

proofs-long: ## make docs/results/proofs-long.md: the largest proofs alone; 16 GiB
	go build -buildvcs=true -o proofs.tmp ./cmd/stile
	./proofs.tmp check --proofs-long --memory 16GiB > docs/results/proofs-long.md.new
	rm proofs.tmp
	mv docs/results/proofs-long.md.new docs/results/proofs-long.md

proofs-view: ## see that all settings of docs/results/proofs-view.md hold, and that every run ends
	go test ./internal/world/viewmodel -run 'TestViewChange|TestLong' -long -v -timeout 0
