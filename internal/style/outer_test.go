package style

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A law forbids imports between two parts of the repository, with exceptions.
type law struct {
	from, to string // prefixes of folders, separated by spaces
	except   string // pairs of folders, importer>imported, separated by spaces
	why      string
}

// laboratory is the wing that simulates, checks and shows algorithms; live is the one
// that runs them between machines.
const (
	laboratory = "sim check scenario trace lab web internal/world"
	live       = "internal/live"
)

func laws() []law {
	return []law{
		{live, laboratory, "internal/live/storm>internal/world/kernel internal/live/storm>scenario internal/live/storm>trace internal/live/measure>internal/world/kernel internal/live/measure>scenario internal/live/measure>trace",
			"the lock service does not need the laboratory"},
		{laboratory, live, "internal/world/viewmodel>internal/live/member", "the laboratory does not need the lock service"},
		{"algorithm", live + " " + laboratory, "", "an algorithm knows its contract, and no host"},
		{"bank docs scenarios", live, "", "only the root package opens the lock service to others"},
		{"check internal/world", "algorithm/mutex", "", "a host takes an algorithm.Spec, and knows no algorithm"},
	}
}

// within reports whether a folder is one of several, or inside one of them.
func within(dir, some string) bool {
	return slices.ContainsFunc(strings.Fields(some), func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") })
}

func outerRules() []rule {
	return []rule{
		{"imports between the wings", wings, []plant{
			{source("internal/live/node/x.go", "package node", `import "github.com/stile-lock/stile/sim"`), "internal/live/node imports sim: the lock service"},
			{source("internal/live/member/x.go", "package member", `import "github.com/stile-lock/stile/internal/world/kernel"`), "internal/live/member imports internal/world/kernel"},
			{source("internal/live/storm/x.go", "package storm", `import "github.com/stile-lock/stile/internal/world/kernel"`), ""},
			{source("check/x.go", "package check", `import "github.com/stile-lock/stile/internal/live/member"`), "check imports internal/live/member: the laboratory"},
			{source("internal/world/viewmodel/x.go", "package viewmodel", `import "github.com/stile-lock/stile/internal/live/member"`), ""},
			{source("check/x.go", "package check", `import "github.com/stile-lock/stile/algorithm/mutex"`), "check imports algorithm/mutex"},
			{source("algorithm/mutex/x.go", "package mutex", `import "github.com/stile-lock/stile/sim"`), "algorithm/mutex imports sim"},
			{source("bank/x.go", "package bank", `import "github.com/stile-lock/stile/internal/live/node"`), "bank imports internal/live/node"},
			{source("check/x.go", "package check", `import "os"`, `import "github.com/stile-lock/stile/algorithm"`), ""},
			{source("check/x_test.go", "package check", `import "github.com/stile-lock/stile/algorithm/mutex"`), ""},
		}},
		{"shipped source has no negative controls", switches, []plant{
			{source("internal/live/member/x.go", "package member", `func f() bool { return broken("NoTouch") }`), `internal/live/member/x.go:2: broken("NoTouch")`},
			{source("internal/peer/x.go", "package peer", "type Misreading uint64"), "internal/peer/x.go:2: misread"},
			{source("internal/peer/x.go", "package peer", "", "// wrong is what it misreads.", "var wrong int"), "internal/peer/x.go:3: misread"},
			{source("internal/live/member/x.go", "package member", "type w struct{}", "func (w) broken() {}", "func f(x w) { x.broken() }"), ""},
			{source("internal/live/member/x_test.go", "package member", `func broken() {}`), ""},
			{source("internal/live/controls/x.go", "package controls", "// What misreads a rule.", `const s = "broken"`), ""},
		}},
	}
}

// switches finds traces of negative controls in shipped source: controls are rewrites, in
// internal/live/controls.
func switches(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			if dir == "internal/live/controls" {
				continue
			}
			for n := range ast.Preorder(f.ast) {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || types.ExprString(call.Fun) != "broken" {
					continue
				}
				if name, ok := call.Args[0].(*ast.BasicLit); ok && name.Kind == token.STRING {
					found = append(found, r.at(n.Pos(), "broken(%s): a negative control in shipped source: make it a rewrite in internal/live/controls", name.Value))
				}
			}
			line := 1
			for text := range strings.Lines(string(f.src)) {
				if strings.Contains(strings.ToLower(text), "misread") {
					found = append(found, fmt.Sprintf("%s:%d: misread: a negative control in shipped source: make it a rewrite in internal/live/controls", f.path, line))
				}
				line++
			}
		}
	}
	return found, nil
}

// wings finds imports that a law forbids.
func wings(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			for _, spec := range f.ast.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				to, ours := strings.CutPrefix(path, module+"/")
				for _, l := range laws() {
					if ours && within(dir, l.from) && within(to, l.to) && !slices.Contains(strings.Fields(l.except), dir+">"+to) {
						found = append(found, r.at(spec.Pos(), "%s imports %s: %s", dir, to, l.why))
					}
				}
			}
		}
	}
	return found, nil
}
