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

// outer lists the packages that are not pure, and what each may import of this
// repository. The checker takes a algorithm.Spec and knows no algorithm; a command
// knows no other command.
func outer() []layer {
	return []layer{
		{"check/explore", ""},
		{"check/group", "core trace scenario family check/explore"},
		{"check/ring", "check/explore"},
		{"check/views", "core internal/live/member check/explore"},
		{"check", "internal/words internal/inorder core trace scenario family family/families sim check/explore check/group check/ring"},
		{"scenarios", ""},
		{"docs", ""},
		{"docs/first", "core lab/calls web"},
		{"docs/exercise/skeleton", "core"},
		{"docs/exercise/solution", "core"},
		{"bank", "core internal/world/bank internal/words"},
		{"internal/style", ""},
		{"internal/world/bank", "core trace scenario family sim sim/kernel internal/spell internal/words"},
		{"internal/world/faults", "core trace scenario sim"},
		{"internal/live/mutants", ""},
		{"internal/live/measure/page", "internal/live/measure internal/live/views/raft internal/live/process"},
		{"internal/jobs", ""},
		{"internal/world/compare", "core deadlock catalog scenario sim internal/jobs internal/words"},
		{"internal/world/compare/page", "core deadlock catalog scenario internal/world/compare internal/words"},
		{"lab/calls", "core catalog deadlock trace scenario scenarios family/families family/transactions sim check lab internal/world/compare internal/inorder internal/jobs internal/spell internal/words"},
		{"internal/live/views/raft", "internal/codec internal/live/views"},
		{"internal/live/node/disk", "internal/live/views/raft"},
		{"internal/live/storm/sweep", "catalog internal/live/views/raft internal/jobs internal/live/member internal/live/process internal/live/storm"},
		{"internal/live/cluster", ""},
		{"internal/live/controls", ""},
		{"internal/live/node/cert", ""},
		{"internal/live/node/transport", ""},
		{"internal/world/museum", "core mutex deadlock catalog trace scenario family/families family/transactions scenarios sim check check/ring internal/world/faults internal/words"},
		{"internal/cli/ask", "core deadlock catalog scenario sim internal/live/member internal/live/node/cert internal/spell"},
		{"internal/cli/tell", "core deadlock trace scenario sim internal/words internal/cli/ask"},
		{"internal/cli/bank", "core catalog sim internal/world/bank internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/cert", "internal/cli/ask internal/cli/tell internal/live/node/cert"},
		{"internal/cli/check", "core quorum deadlock catalog trace scenario family family/families family/transactions check check/ring internal/world/museum internal/spell internal/words internal/cli/ask internal/cli/tell internal/world/faults"},
		{"internal/cli/compare", "core deadlock catalog scenario sim internal/world/compare internal/world/compare/page internal/jobs internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/deadlock", "core deadlock trace scenario sim internal/spell internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/lab", "lab lab/calls web internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/replay", "core catalog deadlock trace scenario sim lab internal/live/views internal/live/views/raft internal/live/member internal/live/process internal/live/replay internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/scene", "core catalog internal/world/bank internal/spell internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/sim", "core quorum catalog trace scenario sim internal/words internal/cli/ask internal/cli/tell"},
		{"internal/cli/storm", "core catalog trace internal/live/views internal/live/member internal/live/storm internal/live/storm/sweep internal/jobs internal/words internal/cli/ask internal/cli/tell"},
		{"internal/tty", ""},
		{"internal/live/child", "internal/live/node/clock internal/tty"},
		{"internal/live/node/clock", "internal/live/member"},
		{"internal/live/lock", "internal/live/member"},
		{"internal/live/client", "internal/live/session internal/live/lock internal/live/member internal/live/node/clock internal/live/node/cert internal/live/node/transport"},
		{"internal/live/node", "catalog core internal/live/session internal/codec internal/live/views internal/live/views/raft internal/live/lock internal/live/member internal/live/node/clock internal/live/node/cert internal/live/node/disk internal/live/node/transport internal/live/process internal/live/replay internal/live/client"},
		{".", "internal/live/lock internal/live/member internal/live/node internal/live/node/cert internal/live/client"},
		{"internal/cli/reach", "internal/cli/ask internal/live/node internal/live/node/cert internal/live/client"},
		{"internal/cli/serve", "catalog internal/cli/ask internal/cli/tell internal/live/node internal/live/node/cert"},
		{"internal/cli/hold", "internal/cli/ask internal/cli/reach internal/cli/tell internal/live/lock internal/live/child internal/live/client"},
		{"internal/cli/cluster", "internal/cli/ask internal/cli/reach internal/cli/tell internal/live/node internal/live/client internal/tty internal/words"},
		{"internal/cli", "core catalog family/families docs internal/spell internal/cli/ask internal/cli/tell internal/cli/bank internal/cli/bench internal/cli/cert internal/cli/check internal/cli/cluster internal/cli/compare internal/cli/deadlock internal/cli/hold internal/cli/lab internal/cli/replay internal/cli/sim internal/cli/scene internal/cli/serve internal/cli/storm"},
		{"internal/live/postgres", ""},
		{"web/wire", ""},
		{"web", "lab/calls web/wire internal/words"},
		{"web/pack", ""},
		{"web/wasm", "lab/calls web/wire"},
		{"internal/live/bench", ". internal/live/lock internal/live/member internal/live/node internal/live/node/cert internal/live/client"},
		{"internal/cli/bench", "internal/live/bench internal/words internal/cli/ask internal/cli/tell"},
		{"cmd/stile", "internal/live/bench internal/cli internal/live/child"},
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
			{source("internal/world/bank/x.go", "package bank", `import "github.com/stile-lock/stile/internal/world/museum"`), "internal/world/bank imports internal/world/museum"},
			{source("internal/cli/sim/x.go", "package sim", `import "github.com/stile-lock/stile/internal/cli/check"`), "internal/cli/sim imports internal/cli/check"},
			{source("internal/cli/tell/x.go", "package tell", `import "github.com/stile-lock/stile/internal/cli"`), "internal/cli/tell imports internal/cli"},
			{source("cmd/stile/x.go", "package main", `import "github.com/stile-lock/stile/sim"`), "cmd/stile imports sim"},
			{source("internal/new/x.go", "package new"), "internal/new/x.go:1: package internal/new has no place"},
			{source("check/x.go", "package check", `import "os"`, `import "github.com/stile-lock/stile/core"`), ""},
			{source("check/x_test.go", "package check", `import "github.com/stile-lock/stile/mutex"`), ""},
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

// switches finds traces of negative controls in shipped source: they are rewrites, in
// internal/live/controls. The storm's host still has two, until it is the process that ships.
func switches(r *repo) ([]string, error) {
	var found []string
	for _, dir := range r.dirs() {
		for _, f := range r.in(dir) {
			if dir == "internal/live/controls" || dir == "internal/live/storm" {
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
