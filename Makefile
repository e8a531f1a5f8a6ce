# make check is what CI runs. make test is the quick part of it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
GO ?= go
FUZZTIME ?= 1s
BENCHCOUNT ?= 6

.PHONY: check build fmt vet staticcheck test modules thorough race fuzz generated readme bench oracle differential update rule clean

check: fmt vet staticcheck test modules thorough race generated readme fuzz

# Without what only a debugger needs, which is a quarter of it; panics name their lines all the same.
build:
	$(GO) build -ldflags=-w -o obelus ./cmd/obelus

fmt:
	@untidy=$$(gofmt -l .); \
	if [ -n "$$untidy" ]; then echo "gofmt -w would change:"; echo "$$untidy"; exit 1; fi

vet:
	$(GO) vet ./... $$(git ls-files 'testdata/*.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')

staticcheck:
	$(GO) tool staticcheck ./...

test:
	$(GO) test ./...

# Modules of their own, which are built on this one as it is here.
modules:
	@for module in $$(git ls-files '*/go.mod'); do \
		echo "$$module"; \
		(cd "$$(dirname "$$module")" && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test ./...) || exit 1; \
	done

# The tests that try a sample in "make test", with the cases that it had no time for; -long tries
# more still.
thorough:
	@folders=$$(git grep -lE '"github.com/obelus-dev/obelus/testdata/(amount|corpus)"' -- '*_test.go' | xargs -n 1 dirname | sort -u); \
	$(GO) test -timeout 30m $$(sed 's|^|./|' <<< "$$folders") -thorough -run "^($$(.ci/tests '(amount|corpus|corpora)[.]' $$folders))\$$"

# The packages with goroutines, and the server that answers many requests at once.
race:
	$(GO) test -race -short ./runtime/activity/... ./runtime/journal ./runtime/local ./runtime/planner/... ./runtime/session ./runtime/web
	$(GO) test -race -short -run '^TestMCP' ./cmd/obelus

# Every fuzz target for a moment: enough to see that none fails at once. Go's
# fuzzer may end on its own time limit as if it had failed; it has failed only
# where it names an input or says more than that.
fuzz:
	@made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; \
	for folder in $$(git grep -lE '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
		$(GO) test -c -fuzz . -o "$$made/fuzz" "./$$folder"; \
		for target in $$(git grep -ohE '^func Fuzz[A-Za-z0-9_]+' -- "$$folder/*_test.go" | cut -d ' ' -f 2); do \
			grep -q "func $$target(" "$$folder"/*_test.go || continue; \
			echo "$$folder $$target"; \
			said=$$(cd "$$folder" && "$$made/fuzz" -test.run '^$$' -test.fuzz "^$$target\$$" -test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 1s -test.fuzzcachedir "$$made/inputs" 2>&1) || \
				{ grep -q '^    context deadline exceeded$$' <<< "$$said" && ! grep -q 'Failing input' <<< "$$said"; } || \
				{ echo "$$said"; exit 1; }; \
			tail -n 1 <<< "$$said"; \
		done; \
	done

# Expected outputs that the tests can write themselves are up to date.
generated:
	@sums() { git ls-files -co --exclude-standard | while read -r file; do [ ! -f "$$file" ] || sha256sum "$$file"; done; }; \
	before=$$(sums); $(MAKE) --no-print-directory update; after=$$(sums); \
	if [ "$$before" != "$$after" ]; then echo "-update changes:"; diff <(echo "$$before") <(echo "$$after") | grep '^>' || true; exit 1; fi

# Only the tests that write anything: those that name the flag, or a function that does so.
update:
	@for folder in $$(git grep -lE 'flag\.Bool\("update"' -- '*_test.go' | xargs -r -n 1 dirname | sort -u); do \
		$(GO) test "./$$folder" -short -run "^($$(.ci/tests '[*]update' "$$folder"))\$$" -update; \
	done

# The README's first command works as it stands there.
readme:
	@command=$$(grep -oE 'go run \./cmd/obelus run [^` ]+' README.md | head -n 1); \
	[ -n "$$command" ] || { echo "README.md has no 'go run ./cmd/obelus run …'"; exit 1; }; \
	echo "$$command"; $$command < /dev/null

# For benchstat: make bench > new.txt
bench:
	$(GO) test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) -timeout 0 ./...

# The program before it was made smaller, which "make differential" compares this one with.
ORACLE := fb111e0
oracle: .tools/oracle/obelus

.tools/oracle/obelus:
	@git cat-file -e $(ORACLE)^{commit} 2> /dev/null || { echo "this clone lacks commit $(ORACLE), which the oracle is built from: run \"git fetch --unshallow\""; exit 1; }
	rm -rf .tools/oracle && mkdir -p .tools/oracle/source
	git archive $(ORACLE) | tar -x -C .tools/oracle/source
	cd .tools/oracle/source && $(GO) build -o ../obelus ./cmd/obelus

# Both programs over the corpus, examples, cases, rule pages and generated plans; reviewed differences
# are in testdata/accepted.tsv. ONLY=D1,D7 runs some of the differentials.
ONLY ?=
differential: oracle
	$(GO) build -o .tools/differential/obelus ./cmd/obelus
	$(GO) run ./testdata/differential -only "$(ONLY)"

# A new rule, its page and its case together; the tests fail until they are filled in.
SEVERITY ?= warning
rule:
	@printf '%s %s %s\n' "$(CODE)" "$(NAME)" "$(SEVERITY)" | \
		grep -Eqx 'OB[1-9][0-9]{2} [a-z]+(-[a-z]+)* (error|warning|info)' || \
		{ echo "write: make rule CODE=OB215 NAME=bad-thing SEVERITY=warning"; exit 2; }
	@! ls analyzer/rules | grep -E '^$(CODE)-|-$(NAME)\.md$$' # one of that code or name exists
	@level=$$(printf %s $(SEVERITY) | cut -c1 | tr a-z A-Z)$$(printf %s $(SEVERITY) | cut -c2-); \
	lower=$$(printf %s $(CODE) | tr A-Z a-z)_$$(printf %s $(NAME) | tr - _); \
	for pair in rule.go=rules/$$lower.go page.md=rules/$(CODE)-$(NAME).md case.txtar=testdata/$(NAME).txtar; do \
		sed "s/CODE/$(CODE)/g; s/NAME/$(NAME)/g; s/SEVERITY/$(SEVERITY)/g; s/LEVEL/$$level/g" \
			analyzer/internal/newrule/$${pair%%=*}.tmpl > analyzer/$${pair#*=} && echo analyzer/$${pair#*=}; \
	done
	@echo "now fill in what says TODO; go test ./analyzer tells what is missing, and make update writes the reference"

clean:
	rm -rf obelus
