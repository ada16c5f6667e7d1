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

// laboratory simulates, checks and shows algorithms. service runs them between machines. kit
// is what storms it.
const (
	laboratory = "lab"
	service    = "internal/child internal/client internal/console internal/explain internal/gateway internal/lock internal/member internal/meter internal/node internal/process internal/replay internal/session internal/survey internal/trail internal/views"
	kit        = "internal/kernel internal/storm"
)

func laws() []law {
	return []law{
		{laboratory, service, "lab/internal/viewmodel>internal/member lab/internal/viewmodel>internal/explain lab/command>internal/member lab/command>internal/process lab/command>internal/replay lab/command>internal/views lab/command>internal/views/raft", "the laboratory does not need the lock service, except to model and storm it"},
		{"algorithm", service + " " + laboratory, "", "an algorithm knows its contract, and no host"},
		{"docs", service, "", "only the root package opens the lock service to others"},
		{"lab/check lab/internal", "algorithm/mutex", "", "a host takes an algorithm.Spec, and knows no algorithm"},
	}
}

// within reports whether a folder is one of several, or inside one of them.
func within(dir, some string) bool {
	return slices.ContainsFunc(strings.Fields(some), func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") })
}

func outerRules() []rule {
	return []rule{
		{"imports between the wings", wings, []plant{
			{source("lab/check/x.go", "package check", `import "github.com/stile-lock/stile/internal/member"`), "lab/check imports internal/member: the laboratory"},
			{source("lab/internal/viewmodel/x.go", "package viewmodel", `import "github.com/stile-lock/stile/internal/member"`), ""},
			{source("lab/command/x.go", "package command", `import "github.com/stile-lock/stile/internal/replay"`), ""},
			{source("lab/command/x.go", "package command", `import "github.com/stile-lock/stile/internal/node"`), "lab/command imports internal/node"},
			{source("lab/check/x.go", "package check", `import "github.com/stile-lock/stile/algorithm/mutex"`), "lab/check imports algorithm/mutex"},
			{source("algorithm/mutex/x.go", "package mutex", `import "github.com/stile-lock/stile/lab/sim"`), "algorithm/mutex imports lab/sim"},
			{source("lab/bank/x.go", "package bank", `import "github.com/stile-lock/stile/internal/node"`), "lab/bank imports internal/node"},
			{source("lab/check/x.go", "package check", `import "os"`, `import "github.com/stile-lock/stile/algorithm"`), ""},
			{source("lab/check/x_test.go", "package check", `import "github.com/stile-lock/stile/algorithm/mutex"`), ""},
		}},
		{"the service does not reach the laboratory", shipped, []plant{
			{map[string]string{
				"cmd/stile/x.go":     "package main\nimport _ \"github.com/stile-lock/stile/internal/node\"",
				"internal/node/x.go": "package node\nimport _ \"github.com/stile-lock/stile/lab/sim\"",
			}, "internal/node/x.go:2: internal/node imports lab/sim"},
			{source("x.go", "package stile", `import "github.com/stile-lock/stile/internal/kernel"`), "x.go:2: . imports internal/kernel"},
			{source("internal/storm/x.go", "package storm", `import "github.com/stile-lock/stile/internal/kernel"`), ""},
			{source("cmd/stile/x_test.go", "package main", `import "github.com/stile-lock/stile/lab/command"`), ""},
		}},
		{"shipped source has no negative controls", switches, []plant{
			{source("internal/member/x.go", "package member", `func f() bool { return broken("NoTouch") }`), `internal/member/x.go:2: broken("NoTouch")`},
			{source("internal/peer/x.go", "package peer", "type Misreading uint64"), "internal/peer/x.go:2: misread"},
			{source("internal/peer/x.go", "package peer", "", "// wrong is what it misreads.", "var wrong int"), "internal/peer/x.go:3: misread"},
			{source("internal/member/x.go", "package member", "type w struct{}", "func (w) broken() {}", "func f(x w) { x.broken() }"), ""},
			{source("internal/member/x_test.go", "package member", `func broken() {}`), ""},
			{source("internal/controls/x.go", "package controls", "// What misreads a rule.", `const s = "broken"`), ""},
		}},
	}
}

// switches finds traces of negative controls in shipped source: controls are rewrites, in
// internal/controls.
func switches(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			if dir == "internal/controls" {
				continue
			}
			for n := range ast.Preorder(f.ast) {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 || types.ExprString(call.Fun) != "broken" {
					continue
				}
				if name, ok := call.Args[0].(*ast.BasicLit); ok && name.Kind == token.STRING {
					found = append(found, r.at(n.Pos(), "broken(%s): a negative control in shipped source: make it a rewrite in internal/controls", name.Value))
				}
			}
			line := 1
			for text := range strings.Lines(string(f.src)) {
				if strings.Contains(strings.ToLower(text), "misread") {
					found = append(found, fmt.Sprintf("%s:%d: misread: a negative control in shipped source: make it a rewrite in internal/controls", f.path, line))
				}
				line++
			}
		}
	}
	return found, nil
}

// shipped finds where the command of the service, or the library, reaches the laboratory.
func shipped(r *repo) ([]string, error) {
	var found []string
	reached := []string{"cmd/stile", "."}
	for i := 0; i < len(reached); i++ {
		for _, f := range r.in(reached[i]) {
			for _, spec := range f.ast.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				to, ours := strings.CutPrefix(path, module+"/")
				switch {
				case !ours || slices.Contains(reached, to):
				case within(to, laboratory+" "+kit):
					found = append(found, r.at(spec.Pos(), "%s imports %s: the service neither needs nor contains the laboratory", reached[i], to))
				default:
					reached = append(reached, to)
				}
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
