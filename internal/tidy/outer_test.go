package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// outer lists the packages that are not pure, and what each may import of this
// repository. The checker takes a core.Spec and knows no algorithm; a command
// knows no other command.
func outer() []layer {
	return []layer{
		{"check/explore", ""},
		{"check/group", "core trace scenario family check/explore"},
		{"check/ring", "check/explore"},
		{"check/views", "core internal/member check/explore"},
		{"check", "internal/words internal/inorder core trace scenario family family/families sim check/explore check/group check/ring"},
		{"scenarios", ""},
		{"docs", ""},
		{"docs/first", "core lab/calls web"},
		{"docs/exercise/skeleton", "core"},
		{"docs/exercise/solution", "core"},
		{"bank", "core internal/bank internal/words"},
		{"internal/tidy", ""},
		{"internal/bank", "core trace scenario family sim sim/kernel internal/spell internal/words"},
		{"internal/faults", "core trace scenario sim"},
		{"internal/mutants", ""},
		{"internal/measure/page", "internal/measure internal/engine/raft internal/process"},
		{"internal/jobs", ""},
		{"internal/compare", "core deadlock catalog scenario sim internal/jobs internal/words"},
		{"internal/compare/page", "core deadlock catalog scenario internal/compare internal/words"},
		{"lab/calls", "core catalog deadlock trace scenario scenarios family/families family/transactions sim check lab internal/compare internal/inorder internal/jobs internal/spell internal/words"},
		{"internal/engine/raft", "internal/code internal/engine"},
		{"internal/node/disk", "internal/engine/raft"},
		{"internal/storm/sweep", "catalog internal/engine/raft internal/jobs internal/member internal/process internal/storm"},
		{"internal/cluster", ""},
		{"internal/controls", ""},
		{"internal/node/cert", ""},
		{"internal/node/wire", ""},
		{"internal/museum", "core mutex deadlock catalog trace scenario family/families family/transactions scenarios sim check check/ring internal/faults internal/words"},
		{"internal/cli/ask", "core deadlock catalog scenario sim internal/member internal/node/cert internal/spell"},
		{"internal/cli/tell", "core deadlock trace scenario sim internal/words internal/cli/ask"},
		{"internal/cli/bank", "core catalog sim internal/bank internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/cert", "internal/cli/ask internal/cli/tell internal/node/cert"},
		{"internal/cli/check", "core quorum deadlock catalog trace scenario family family/families family/transactions check check/ring internal/museum internal/spell internal/words internal/cli/ask internal/cli/tell internal/faults"},
		{"internal/cli/compare", "core deadlock catalog scenario sim internal/compare internal/compare/page internal/jobs internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/deadlock", "core deadlock trace scenario sim internal/spell internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/lab", "lab lab/calls web internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/replay", "core catalog deadlock trace scenario sim lab internal/engine internal/engine/raft internal/member internal/process internal/record internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/scene", "core catalog internal/bank internal/spell internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/sim", "core quorum catalog trace scenario sim internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/storm", "core catalog trace internal/engine internal/member internal/storm internal/storm/sweep internal/jobs internal/words internal/cli/ask internal/cli/tell"},
		{"internal/tty", ""},
		{"internal/node/child", "internal/node/boot internal/tty"},
		{"internal/node/boot", "internal/member"},
		{"internal/lock", "internal/member"},
		{"internal/remote", "internal/client internal/lock internal/member internal/node/boot internal/node/cert internal/node/wire"},
		{"internal/node", "catalog core internal/client internal/code internal/engine internal/engine/raft internal/lock internal/member internal/node/boot internal/node/cert internal/node/disk internal/node/wire internal/process internal/record internal/remote"},
		{".", "internal/lock internal/member internal/node internal/node/cert internal/remote"},
		{"internal/cli/reach", "internal/cli/ask internal/node internal/node/cert internal/remote"},
		{"internal/cli/serve", "catalog internal/cli/ask internal/cli/tell internal/node internal/node/cert"},
		{"internal/cli/hold", "internal/cli/ask internal/cli/reach internal/cli/tell internal/lock internal/node/child internal/remote"},
		{"internal/cli/cluster", "internal/cli/ask internal/cli/reach internal/cli/tell internal/node internal/remote internal/tty internal/words"},
		{"internal/cli", "core catalog family/families docs internal/spell internal/cli/ask internal/cli/tell internal/cli/bank internal/cli/bench internal/cli/cert internal/cli/check internal/cli/cluster internal/cli/compare internal/cli/deadlock internal/cli/hold internal/cli/lab internal/cli/replay internal/cli/sim internal/cli/scene internal/cli/serve internal/cli/storm"},
		{"internal/postgres", ""},
		{"web/wire", ""},
		{"web", "lab/calls web/wire internal/words"},
		{"web/pack", ""},
		{"web/wasm", "lab/calls web/wire"},
		{"internal/bench", ". internal/lock internal/member internal/node internal/node/cert internal/remote"},
		{"internal/cli/bench", "internal/bench internal/words internal/cli/ask internal/cli/tell"},
		{"cmd/stile", "internal/bench internal/cli internal/node/child"},
	}
}

func outerRules() []rule {
	return []rule{
		{"imports of the other packages", outerImports, []plant{
			{source("check/x.go", "package check", `import "github.com/stile-lock/stile/mutex"`), "check imports mutex"},
			{source("check/x.go", "package check", `import "github.com/stile-lock/stile/catalog"`), "check imports catalog"},
			{source("check/explore/x.go", "package explore", `import "github.com/stile-lock/stile/core"`), "check/explore imports core"},
			{source("check/group/x.go", "package group", `import "github.com/stile-lock/stile/check"`), "check/group imports check"},
			{source("check/ring/x.go", "package ring", `import "github.com/stile-lock/stile/mutex"`), "check/ring imports mutex"},
			{source("internal/bank/x.go", "package bank", `import "github.com/stile-lock/stile/internal/museum"`), "internal/bank imports internal/museum"},
			{source("internal/cli/sim/x.go", "package sim", `import "github.com/stile-lock/stile/internal/cli/check"`), "internal/cli/sim imports internal/cli/check"},
			{source("internal/cli/tell/x.go", "package tell", `import "github.com/stile-lock/stile/internal/cli"`), "internal/cli/tell imports internal/cli"},
			{source("cmd/stile/x.go", "package main", `import "github.com/stile-lock/stile/sim"`), "cmd/stile imports sim"},
			{source("internal/new/x.go", "package new"), "internal/new/x.go:1: package internal/new has no place"},
			{source("check/x.go", "package check", `import "os"`, `import "github.com/stile-lock/stile/core"`), ""},
			{source("check/x_test.go", "package check", `import "github.com/stile-lock/stile/mutex"`), ""},
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

// switches finds traces of negative controls in shipped source: they are rewrites, in
// internal/controls. The storm's host still has two, until it is the process that ships.
func switches(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			if dir == "internal/controls" || dir == "internal/storm" {
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

// outerImports finds imports that the list does not allow, and packages that
// are in no list.
func outerImports(r *repo) ([]string, error) {
	var found []string
	all := outer()
	for _, dir := range r.dirs() {
		if slices.ContainsFunc(layers(), func(l layer) bool { return l.name == dir }) {
			continue
		}
		i := slices.IndexFunc(all, func(l layer) bool { return l.name == dir })
		if i < 0 {
			found = append(found, r.at(r.in(dir)[0].ast.Package, "package %s has no place: say in layers or outer whom it may import", dir))
			continue
		}
		allowed := strings.Fields(all[i].may)
		for _, f := range r.in(dir) {
			for _, spec := range f.ast.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				name, ours := strings.CutPrefix(path, module+"/")
				if ours && !slices.Contains(allowed, name) {
					found = append(found, r.at(spec.Pos(), "%s imports %s, which it may not", dir, name))
				}
			}
		}
	}
	return found, nil
}
