# 'make check' is everything a change must pass.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Fuzzing is limited by a count, not by a duration: in Go 1.26 a duration that expires
# can fail a correct target (go.dev/issue/75804).
FUZZTIME ?= 5000x

# Number of seeds for 'make storm'. 'make ledger' takes this number, the first seed and
# other flags of 'stile storm'. 'make check' runs fewer: the same seeds each time, and the
# tests of package storm run a thousand others.
SEEDS ?= 1000
FROM  ?= 1
FLAGS ?=

# Command that runs 'make numbers-lab': on a busy machine, PRIORITY="chrt -r 50" (as root, on
# Linux) gives it precedence over other work.
PRIORITY ?=

# Pattern of the benchmarks that 'make bench' runs, such as BENCH=Sim.
BENCH ?= .

# Flags of 'make race', such as RACE="-entrants stile,redis -workloads uncontended -rounds 1".
RACE ?= -json ../docs/results/race.json

# Commit that 'make compare-instructions' compares with.
OLD ?=

# tla2tools.jar, for 'make tla'
TLC ?=

# For 'make mutants': the packages to mutate, the number of mutants of each to run, and the
# seed that draws them.
PACKAGE ?= internal/session internal/views internal/link
SAMPLE  ?= 100
SEED    ?= 1

# Empty to build a release of a tag: 'make release SNAPSHOT='
SNAPSHOT ?= --snapshot

# Tools that only 'make proto' and 'make release' need. They depend on too much for the module
# tools; the checksum database of Go verifies them.
buf        := go run github.com/bufbuild/buf/cmd/buf@v1.72.0
goreleaser := go run github.com/goreleaser/goreleaser/v2@v2.16.0

staticcheck := go tool -modfile=tools/go.mod staticcheck

# Packages that start goroutines, packages that give them jobs, and the models that they
# explore, except cmd/stile, whose tests run whole commands for minutes, check, which starts
# none of its own and hands everything to explore, and packages only for browsers; packages
# with files for one system only; packages with fuzz targets; packages that can rewrite golden
# files.
concurrent = $(shell { grep -rlE --include='*.go' '^[[:space:]]*go [[:alpha:]]|[.]Go[^[:alnum:][:space:],]' . | xargs -r dirname; echo ./internal/lab/model; echo ./internal/lab/compare; echo ./internal/storm/sweep; echo ./internal/lab/calls; } | grep -vE "^./(cmd/stile|lab/web/wasm|(test|tools|bench|examples)(/.*)?)$$" | sort -u)
systems    = ./internal/child ./internal/node/clock ./internal/node/disk ./internal/node/transport ./internal/tty
fuzzed     = $(shell grep -rl --include='*_test.go' --exclude-dir=test '^func Fuzz' . | xargs -r dirname | sort -u)
golden     = $(shell grep -rl --include='*_test.go' 'flag.Bool.*"update"' . | xargs -r dirname | sort -u)

.PHONY: help check inspected computed nightly tools fmt vet lint test tests fuzz storm cluster check-cluster restarts examples ledger bench numbers compare-instructions numbers-live numbers-lab numbers-console golden museum faults controls live mutants proofs proofs-long proofs-view tla web web-check skeleton site screenshots release proto proto-check pages detect-races race performance

help: ## list all targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

# Tests make much garbage and keep little, so by default collecting it takes up to a third of
# their time. Real processes in 'make cluster' run as users run them.
tests test inspected lint storm: export GOGC = 400
tests test inspected lint storm: export GOMEMLIMIT = 2GiB

# Browsers and real processes mostly wait, so they run beside what computes.
check: tools fmt vet ## everything a change must pass; 15 to 30 minutes on two cores
	@$(MAKE) --no-print-directory -j 2 tests inspected
	@$(MAKE) --no-print-directory -j 2 --output-sync=target cluster computed
	@left=$$({ tools/detect-races.sh; tools/postgres.sh left; tools/languages.sh left; tools/cluster.sh; } | paste -sd ';' - | sed 's/;/; /g'); echo "check: all good$${left:+, but $$left}"

# The ledger needs a clean tree, so it comes before the pages.
nightly: check fuzz ## the long settings, and every page of docs/results; hours
	GOOS=darwin go vet ./...
	$(MAKE) detect-races ALL=1
	cd test && STILE_NIGHTLY=1 go test ./page -count 1 -timeout 1h
	STILE_NIGHTLY=1 go test ./algorithm/deadlock ./internal/member -run 'Checker|TestModes|TestKeptModel' -count 1 -timeout 1h
	STILE_NIGHTLY=1 go test ./internal/style -run TestCommand -count 1 -timeout 1h
	STILE_NIGHTLY=1 go test ./cmd/stile -count 1 -walk 200 -seeds 3 -timeout 2h
	go test ./internal/lab/document -run TestTruth -count 1 -truths 10 -timeout 1h
	$(MAKE) ledger FROM=$$(tools/ledger.sh next) SEEDS=100000
	$(MAKE) examples mutants proto-check release proofs museum faults controls live pages check-cluster restarts site

inspected:
	@$(MAKE) --no-print-directory -j 1 lint web-check

computed:
	@$(MAKE) --no-print-directory -j 1 detect-races
	@$(MAKE) --no-print-directory storm SEEDS=300

tools: ## download and install what the other targets need
	go mod download
	go mod download -modfile=tools/go.mod
	cd test && go mod download
	cd bench && go mod download
	cd examples && go mod download
	@tools/postgres.sh
	@tools/browser.sh
	@tools/languages.sh
	@tools/cluster.sh install

fmt: ## check that every Go file is formatted
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted (run gofmt -w):"; echo "$$bad"; exit 1; fi

# Code compiled for the other system never runs, so it is not optimised. It is vetted nightly.
# SQLite is C translated to Go, which takes long to compile, so the examples are vetted nightly.
vet: ## go vet, and compile what is special on macOS
	GOOS=linux go vet ./...
	GOOS=darwin go build -gcflags='all=-N -l' $(systems)
	cd test && GOOS=linux go vet ./...
	cd tools && go vet ./...
	cd bench && GOOS=linux go vet ./...

lint: ## staticcheck
	$(staticcheck) ./...
	cd test && go tool -modfile=../tools/go.mod staticcheck ./...
	cd tools && go tool staticcheck ./...
	cd bench && go tool -modfile=../tools/go.mod staticcheck ./...

test: ## the everyday loop: short tests, within three minutes
	go test -vet off -short -timeout 30m ./...
	cd tools && go test -vet off ./...

# Tests that wait for a browser or for processes run in parallel with those that compute, and
# so many packages wait for something else that three at a time keep two cores busy.
tests: ## all tests, including the modules tools, test and bench
	@(cd tools && go test -vet off ./... && cd ../test && go test -vet off -timeout 30m ./... && cd ../bench && go test -vet off ./...) & beside=$$!; bad=0; \
	go test -vet off -p 3 -timeout 30m ./... || bad=1; wait $$beside || bad=1; exit $$bad

# In the laboratory only the workers of the explorer and of comparisons share memory: their tests run nightly.
detect-races: ## tests of the service's concurrent packages with the race detector, and with ALL=1 the laboratory's; needs a C compiler
	@tools/detect-races.sh $(if $(ALL),$(concurrent),$(filter-out ./internal/lab/% ./algorithm/%,$(concurrent)))

fuzz: ## every fuzz target, briefly; the tests run only their known inputs
	@test=$$(mktemp); trap 'rm -f "$$test"' EXIT; cache=$$(go env GOCACHE)/fuzz/$$(go list -m); \
	for package in $(fuzzed); do \
		go test -vet off -c -fuzz . -o "$$test" "$$package"; \
		for name in $$("$$test" -test.list '^Fuzz'); do \
			echo "fuzz $$package $$name"; \
			(cd "$$package"; "$$test" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 100x -test.fuzzcachedir "$$cache/$$package"); \
		done; \
	done

web: ## bundle the lab's page into lab/web/dist, which is committed
	lab/web/build.sh lab/web/dist

web-check: ## check the types of the lab's page, and that lab/web/dist is up to date
	tools/tsc.sh --project lab/web/tsconfig.json
	@new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; lab/web/build.sh "$$new"; \
	diff -rq "$$new" lab/web/dist || { echo "lab/web/dist is not what lab/web/src bundles to: run make web"; exit 1; }

proto: ## generate the Go code of the API in proto, which is committed
	cd proto && $(buf) generate -o $(or $(OUT),..)

proto-check: ## check that the generated code of the API is up to date
	@new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; $(MAKE) --no-print-directory proto OUT="$$new"; \
	for f in $$(cd "$$new" && find . -type f); do diff -q "$$new/$$f" "$$f" || { echo "$$f is not what proto generates: run make proto"; exit 1; }; done

skeleton: ## write the page's first content into index.html; needs Chromium
	cd test && go test ./page -run TestSkeleton -count 1 -skeleton
	$(MAKE) web

screenshots: ## make docs/lab-*.png and docs/console-*.png; needs Chromium
	cd test && go test ./page -run TestShots -count 1 -shots ../docs
	@all=$$(mktemp -d); trap 'rm -rf "$$all"' EXIT; \
	(cd test && go test ./page -run 'TestConsoleShots/^(overview|lock|graph)$$' -count 1 -console-shots "$$all"); \
	for name in overview lock graph; do cp "$$all/$$name-1280-light.png" "docs/console-$$name.png"; done

site: ## build the lab as a static site in site/, for any web server, and the documentation as a book in site/book
	rm -rf site
	lab/web/build.sh site --site
	cd tools && go run ./book .. ../site/book
	@cd site && wc -c $$(find . -maxdepth 1 -type f) && du -sh book

release: ## build the files of a release in dist/: archives for Linux and macOS, and checksums
	$(goreleaser) release $(SNAPSHOT) --clean --skip=publish

storm: ## storms of seeds 1 to SEEDS (default 1000)
	go build -o bin/stile ./cmd/stile
	bin/stile storm --seeds $(SEEDS)

cluster: ## real processes on a faulty network; a few minutes, needs Linux and root
	tools/cluster.sh 38

check-cluster: ## make docs/results/cluster-run.txt: the same for longer; about 10 minutes
	tools/cluster.sh 190 docs/results/cluster-run.txt

restarts: ## make docs/results/restarts.md: stops, crashes and lost disks of real processes; about 25 minutes, needs Linux
	cd test && go test -vet off ./cluster -run '^TestRestarts$$' -count 1 -v -timeout 2h -args -page ../../docs/results/restarts.md -at $$(git rev-parse --short HEAD) \
		-rolling 20m -jobs 100 -working 1m -kills 200

examples: ## test the examples, on SQLite and PostgreSQL, under all faults; about 5 minutes
	cd examples && go vet ./... && go test -vet off ./...
	cd test && STILE_NIGHTLY=1 go test -vet off ./postgres -run '^TestBank$$' -count 1 -v -timeout 1h

ledger: ## add a row to docs/results/storm-ledger.md: FROM=N SEEDS=N FLAGS="..."
	tools/ledger.sh $(FROM) $(SEEDS) $(FLAGS)

bench: ## all benchmarks, or BENCH=NAME
	go test ./... -run '^$$' -bench '$(BENCH)' -benchmem

numbers: ## make docs/results/bench.txt: the benchmarks that the documentation quotes
	{ echo "made by 'make numbers' at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm)"; \
	  go test ./lab/sim ./internal/lab/model -run '^$$' -bench 'Events|Explore' -benchmem -count 3 -timeout 30m; } > docs/results/bench.txt.new
	mv docs/results/bench.txt.new docs/results/bench.txt

compare-instructions: ## make docs/results/bench-instructions.txt: instructions of these benchmarks, compared with OLD=COMMIT; about 15 minutes, needs valgrind
	tools/instructions.sh $(OLD) > docs/results/bench-instructions.txt.new
	mv docs/results/bench-instructions.txt.new docs/results/bench-instructions.txt

numbers-live: ## make docs/results/bench-live.txt: the speed of a live member
	{ echo "made by 'make numbers-live' at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm)"; \
	  go test ./internal/member -run '^$$' -bench 'Local|Frame' -benchmem -benchtime 300000x -count 3 -timeout 30m; \
	  go test ./internal/member -run '^$$' -bench ViewChange -benchtime 1x -count 3 -timeout 30m; } > docs/results/bench-live.txt.new
	mv docs/results/bench-live.txt.new docs/results/bench-live.txt

numbers-lab: ## make docs/results/bench-lab.txt: the speed of the lab's page; about 5 minutes, needs Chromium
	{ echo "made by 'make numbers-lab' at commit $$(git rev-parse --short HEAD)$(if $(PRIORITY), with $(strip $(PRIORITY)))"; tools/numbers-lab.sh $(PRIORITY); } > docs/results/bench-lab.txt.new
	mv docs/results/bench-lab.txt.new docs/results/bench-lab.txt

numbers-console: ## make docs/results/bench-console.txt: the console with 10,000 locks and 1,500 requests; about 5 minutes, needs Chromium
	{ echo "made by 'make numbers-console' at commit $$(git rev-parse --short HEAD)$(if $(PRIORITY), with $(strip $(PRIORITY)))"; tools/numbers-console.sh $(PRIORITY); } > docs/results/bench-console.txt.new
	mv docs/results/bench-console.txt.new docs/results/bench-console.txt

race: ## stile beside other lock services, and docs/results/race.json, or RACE="FLAGS"; about 16 minutes, needs Linux
	@tools/race.sh
	cd bench && go run . -at "$$(git rev-parse --short HEAD)" $(RACE)

performance: ## make docs/performance.md and its charts from docs/results/race.json
	cd bench && go run . -page ../docs/performance.md

golden: ## rewrite the golden files; read the difference before committing
	go test $(golden) -update
	git status --short -- '*testdata*' docs

pages: ## make docs/algorithms: a page for every algorithm, from the algorithms, the simulator and docs/results
	go test ./internal/lab/pages -run TestCommitted -count 1 -update
	git status --short -- docs/algorithms

museum: ## make docs/results/museum.md: famous algorithms that fail
	go run ./cmd/stile check --museum > docs/results/museum.md.new
	mv docs/results/museum.md.new docs/results/museum.md

faults: ## make docs/results/faults.md: the effect of one fault on every lock algorithm
	go run ./cmd/stile check --faults > docs/results/faults.md.new
	mv docs/results/faults.md.new docs/results/faults.md

controls: ## make docs/results/storm-controls.md: how often the storm finds each broken rule
	go test ./internal/controls -run '^TestPage$$' -count 1 -page ../../../docs/results/storm-controls.md -at $$(git rev-parse --short HEAD) -timeout 60m

live: ## make docs/results/live.md: cost of live locks, and outages after a crash
	go run ./internal/measure/page "measured at commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(uname -sm), $$(go env GOVERSION)" > docs/results/live.md.new
	mv docs/results/live.md.new docs/results/live.md

mutants: ## small changes of PACKAGE that its tests do not detect: PACKAGE=internal/session SAMPLE=100 SEED=1
	for package in $(PACKAGE); do (cd tools && nice go run ./mutants -root .. -package "$$package" -sample $(SAMPLE) -seed $(SEED)); done

proofs: ## make docs/results/proofs.md and proofs-long.md: what is proved; hours
	go build -buildvcs=true -o proofs.tmp ./cmd/stile
	./proofs.tmp check --proofs --memory 8GiB > docs/results/proofs.md.new
	rm proofs.tmp
	mv docs/results/proofs.md.new docs/results/proofs.md
	$(MAKE) proofs-long

proofs-long: ## make docs/results/proofs-long.md: only the largest proofs; 16 GiB
	go build -buildvcs=true -o proofs.tmp ./cmd/stile
	./proofs.tmp check --proofs-long --memory 16GiB > docs/results/proofs-long.md.new
	rm proofs.tmp
	mv docs/results/proofs-long.md.new docs/results/proofs-long.md

proofs-view: ## check all settings of docs/results/proofs-view.md, and that every run ends
	go test ./internal/lab/viewmodel -run 'TestViewChange|TestLong' -long -v -timeout 0

tla: ## make docs/results/tla.md: locks counted again by TLC; needs Java and TLC=path/to/tla2tools.jar
	tools/tla.sh "$(TLC)" > docs/results/tla.md.new
	mv docs/results/tla.md.new docs/results/tla.md
