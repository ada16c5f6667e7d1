# 'make check' is everything a change must pass.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Fuzzing is limited by a count, not by a duration: in Go 1.26 a duration that expires
# can fail a correct target (go.dev/issue/75804).
FUZZTIME ?= 5000x

# Number of seeds for 'make storm'. 'make ledger' takes this number, the first seed and
# other flags of 'stile-lab storm'.
SEEDS ?= 1000
FROM  ?= 1
FLAGS ?=

# Pattern of the benchmarks that 'make bench' runs, such as BENCH=Sim.
BENCH ?= .

# Flags of 'make race', such as RACE="-entrants stile,redis -workloads uncontended -rounds 1".
RACE ?= -page ../docs/performance.md

# Commit that 'make compare-instructions' compares with.
OLD ?=

# tla2tools.jar, for 'make tla'
TLC ?=

# For 'make mutants': the packages to mutate, the number of mutants of each to run, and the
# seed that draws them.
PACKAGE ?= internal/session internal/views internal/member
SAMPLE  ?= 100
SEED    ?= 1

# Empty to build a release of a tag: 'make release SNAPSHOT='
SNAPSHOT ?= --snapshot

# Tools that only 'make proto' and 'make release' need. They depend on too much for the module
# tools; the checksum database of Go verifies them.
buf        := go run github.com/bufbuild/buf/cmd/buf@v1.72.0
goreleaser := go run github.com/goreleaser/goreleaser/v2@v2.16.0

# The tools module, also as seen from the other modules.
tool        = go tool -modfile=$(CURDIR)/tools/go.mod
staticcheck = $(tool) staticcheck
tested      = $(tool) gotestsum --format pkgname --hide-summary skipped -- -vet off -timeout 30m

# Packages whose goroutines share memory, for the race detector: the service's most of all, then
# all that start goroutines, give them jobs or are given to the explorer's, except packages whose
# goroutines run only in whole commands. Packages with fuzz targets, with benchmarks, and those that
# can rewrite golden files.
concurrent = ./internal/node ./internal/node/transport ./internal/client ./internal/gateway ./internal/child
sharing    = $(shell { grep -rlE --include='*.go' '^[[:space:]]*go [[:alpha:]]|[.]Go[^[:alnum:][:space:],]' . | xargs -r dirname; echo ./lab/internal/model; echo ./lab/internal/compare; echo ./internal/storm/sweep; echo ./lab/internal/calls; } | grep -vE "^./(cmd/.*|lab/web/wasm|(test|tools|bench|examples)(/.*)?)$$" | sort -u)
fuzzed     = $(shell grep -rl --include='*_test.go' --exclude-dir=test '^func Fuzz' . | xargs -r dirname | sort -u)
measured   = $(shell grep -rl --include='*_test.go' '^func Benchmark' . | grep -vE '^./(test|tools|bench|examples)/' | xargs -r dirname | sort -u)
golden     = $(shell grep -rl --include='*_test.go' 'flag.Bool.*"update"' . | xargs -r dirname | sort -u)

.PHONY: help check nightly long tools fmt vet lint test tests detect-races vulnerabilities fuzz web web-check web-test proto proto-check skeleton screenshots site release storm cluster check-cluster restarts examples ledger bench compare-instructions race golden pages mutants proofs proofs-view tla

help: ## list all targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

# Tests make much garbage and keep little, so by default collecting it takes up to a third of
# their time. Real processes in 'make cluster' run as users run them.
check test tests lint long: export GOGC = 400
check test tests lint long: export GOMEMLIMIT = 2GiB

check: tools fmt vet lint web-check web-test tests detect-races ## everything a change must pass; 10 to 20 minutes on two cores
	@left=$$({ tools/detect-races.sh; tools/postgres.sh left; tools/languages.sh left; tools/cluster.sh; } | paste -sd ';' - | sed 's/;/; /g'); echo "check: all good$${left:+, but $$left}"

# The ledger needs a clean tree, so it comes before the pages.
nightly: check long fuzz proto-check ## everything: the long tests and settings, and the pages of results; hours
	GOOS=darwin go vet ./...
	tools/vulnerabilities.sh reachable
	$(MAKE) detect-races ALL=1
	$(MAKE) ledger FROM=$$(tools/ledger.sh next) SEEDS=100000
	$(MAKE) examples mutants release proofs pages check-cluster restarts site

# One package at a time: the largest explorations take gigabytes, and real processes share the
# machine with nothing else.
long: export STILE_NIGHTLY = 1
long:
	go test -vet off -p 1 -timeout 4h ./...
	cd test && go test -vet off -p 1 -timeout 4h ./...

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

# 'make nightly' vets for macOS too, and the examples, whose SQLite takes long to compile.
vet: ## go vet
	go vet ./...
	cd test && go vet ./...
	cd tools && go vet ./...
	cd bench && go vet ./...

lint: ## staticcheck
	$(staticcheck) ./...
	cd test && $(staticcheck) ./...
	cd tools && $(staticcheck) ./...
	cd bench && $(staticcheck) ./...

test: ## the everyday loop: quick tests of the main module; a few minutes
	go test -vet off -timeout 30m ./...

# The other modules' tests wait for browsers and processes, so they run beside those that compute,
# and packages that wait run beside each other.
tests: ## what 'make check' tests: the same, other modules too, and one iteration of each benchmark
	@(cd tools && $(tested) ./... && cd ../test && $(tested) ./... && cd ../bench && $(tested) ./...) & beside=$$!; bad=0; \
	$(tested) -p 4 ./... || bad=1; wait $$beside || bad=1; exit $$bad
	@out=$$(go test -vet off -run '^$$' -bench . -benchtime 1x $(measured) 2>&1) || { echo "$$out"; exit 1; }; echo "benchmarks: all run"

detect-races: ## the service's tests with the race detector, with ALL=1 the laboratory's too; needs a C compiler
	@tools/detect-races.sh $(if $(ALL),$(filter-out $(concurrent),$(sharing))) $(concurrent)

vulnerabilities: ## known vulnerabilities in what the service calls; needs the network
	tools/vulnerabilities.sh

fuzz: ## every fuzz target, briefly; the tests run only their known inputs
	@test=$$(mktemp); trap 'rm -f "$$test"' EXIT; cache=$$(go env GOCACHE)/fuzz/$$(go list -m); \
	for package in $(fuzzed); do \
		go test -vet off -c -fuzz . -o "$$test" "$$package"; \
		for name in $$("$$test" -test.list '^Fuzz'); do \
			echo "fuzz $$package $$name"; \
			(cd "$$package"; "$$test" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 100x -test.fuzzcachedir "$$cache/$$package"); \
		done; \
	done

web: ## bundle the pages of the lab and the console into lab/web/dist and internal/console/page/dist, which are committed
	lab/web/build.sh lab/web/dist internal/console/page/dist

web-check: ## check the types of the pages, and that their bundles are up to date
	tools/tsc.sh --project lab/web/tsconfig.json
	@new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; lab/web/build.sh "$$new/lab" "$$new/console"; \
	{ diff -rq "$$new/lab" lab/web/dist && diff -rq "$$new/console" internal/console/page/dist; } || { echo "the bundles are not what lab/web/src bundles to: run make web"; exit 1; }

web-test: ## test layout, state and formats of the lab's page without a browser; needs Node
	tools/web-test.sh

proto: ## generate the Go code of the API in proto, which is committed
	cd proto && $(buf) generate -o $(or $(OUT),..)

proto-check: ## check that the generated code of the API is up to date
	@new=$$(mktemp -d); trap 'rm -rf "$$new"' EXIT; $(MAKE) --no-print-directory proto OUT="$$new"; \
	for f in $$(cd "$$new" && find . -type f); do diff -q "$$new/$$f" "$$f" || { echo "$$f is not what proto generates: run make proto"; exit 1; }; done

skeleton: ## write the page's first content into index.html; needs Chromium
	cd test && go test ./page -run TestSkeleton -count 1 -skeleton
	$(MAKE) web

screenshots: ## make docs/lab-*.png and docs/console-*.png; needs Chromium
	cd test && go test ./page -run TestShots -count 1 -shots "$$PWD/../docs"

site: ## build the lab as a static site in site/, for any web server, and the documentation as a book in site/book
	rm -rf site
	lab/web/build.sh site --site
	cd tools && go run ./book .. ../site/book
	@cd site && wc -c $$(find . -maxdepth 1 -type f) && du -sh book

release: ## build the files of a release in dist/: archives for Linux and macOS, and checksums
	$(goreleaser) release $(SNAPSHOT) --clean --skip=publish

storm: ## storms of seeds 1 to SEEDS (default 1000)
	go build -o bin/stile-lab ./cmd/stile-lab
	bin/stile-lab storm --seeds $(SEEDS)

cluster: ## real processes on a faulty network, for longer than the tests; a few minutes, needs Linux and root
	tools/cluster.sh 38

check-cluster: ## the same for longer; about 10 minutes
	tools/cluster.sh 190

restarts: ## make docs/results/restarts.md: stops, crashes and lost disks of real processes; about 25 minutes, needs Linux
	cd test && STILE_NIGHTLY=1 go test -vet off ./cluster -run '^TestRestarts$$' -count 1 -v -timeout 2h -args -page ../../docs/results/restarts.md -at $$(git rev-parse --short HEAD) \
		-rolling 20m -jobs 100 -working 1m -kills 200

examples: ## test the examples, on SQLite and PostgreSQL, under all faults; about 5 minutes
	cd examples && go vet ./... && go test -vet off ./...
	cd test && STILE_NIGHTLY=1 go test -vet off ./postgres -run '^TestBank$$' -count 1 -v -timeout 1h

ledger: ## add a row to docs/results/storm-ledger.md: FROM=N SEEDS=N FLAGS="..."
	tools/ledger.sh $(FROM) $(SEEDS) $(FLAGS)

bench: ## all benchmarks, or BENCH=NAME
	STILE_NIGHTLY=1 go test ./... -run '^$$' -bench '$(BENCH)' -benchmem

compare-instructions: ## instructions of the simulator's and the checker's benchmarks, compared with OLD=COMMIT; about 15 minutes, needs valgrind
	tools/instructions.sh $(OLD)

race: ## stile beside other lock services, and docs/performance.md, or RACE="FLAGS"; about 16 minutes, needs Linux
	@tools/race.sh
	cd bench && go run . -at "$$(git rev-parse --short HEAD)" $(RACE)

golden: ## rewrite the golden files; read the difference before committing
	go test $(golden) -update
	git status --short -- '*testdata*' docs

pages: ## make docs/algorithms: a page for every algorithm
	go test ./lab/internal/pages -run TestCommitted -count 1 -update
	git status --short -- docs/algorithms

mutants: ## small changes of PACKAGE that its tests do not detect: PACKAGE=internal/session SAMPLE=100 SEED=1
	for package in $(PACKAGE); do (cd tools && nice go run ./mutants -root .. -package "$$package" -sample $(SAMPLE) -seed $(SEED)); done

proofs: ## make docs/results/proofs.md: what is proved of every algorithm; a few minutes
	tools/proofs.sh > docs/results/proofs.md.new
	mv docs/results/proofs.md.new docs/results/proofs.md

proofs-view: ## explore all settings of view changes, and see that every run ends; long
	go test ./lab/internal/viewmodel -run 'TestViewChange|TestLong' -long -v -timeout 0

tla: ## count locks again by TLC; needs Java and TLC=path/to/tla2tools.jar
	tools/tla.sh "$(TLC)"
