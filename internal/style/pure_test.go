package style

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A layer is a pure package and what it may import from this repository. Hosts come after
// the catalog and import no algorithm: they take an algorithm.Spec.
type layer struct {
	name string
	may  string // separated by spaces
}

// layers lists the pure packages. Every one may import only what is above it.
func layers() []layer {
	return []layer{
		{"internal/spell", ""},
		{"internal/words", ""},
		{"internal/codec", ""},
		{"internal/share", ""},
		{"algorithm/host", ""},
		{"algorithm", "algorithm/host"},
		{"algorithm/quorum", "algorithm/host algorithm"},
		{"algorithm/mutex", "algorithm/host algorithm algorithm/quorum"},
		{"algorithm/election", "algorithm/host algorithm"},
		{"algorithm/deadlock", "internal/spell algorithm/host algorithm algorithm/election"},
		{"algorithm/recovery", "algorithm/host algorithm algorithm/quorum algorithm/mutex algorithm/election"},
		{"algorithm/catalog", "internal/spell algorithm/host algorithm algorithm/quorum algorithm/mutex algorithm/election algorithm/deadlock algorithm/recovery"},
		{"lab/internal/mistake", "algorithm/host algorithm"},
		{"internal/draw", "internal/words algorithm/host algorithm algorithm/deadlock"},
		{"lab/trace", "internal/words internal/draw algorithm/host algorithm"},
		{"internal/script", "internal/spell algorithm/host algorithm lab/trace"},
		{"lab/scenario", "internal/script"},
		{"internal/family", "algorithm/host algorithm lab/trace internal/script lab/scenario"},
		{"internal/family/locks", "internal/words algorithm/host algorithm lab/trace internal/script lab/scenario internal/family"},
		{"internal/family/sections", "internal/words algorithm/host algorithm lab/trace internal/script lab/scenario internal/family internal/family/locks"},
		{"internal/family/elections", "algorithm/host algorithm lab/trace internal/script lab/scenario internal/family"},
		{"internal/family/transactions", "internal/words algorithm/host algorithm algorithm/deadlock lab/trace internal/script lab/scenario internal/family"},
		{"internal/family/families", "algorithm/host algorithm internal/family internal/family/locks internal/family/elections internal/family/transactions"},
		{"internal/kernel", "algorithm/host algorithm lab/trace internal/script lab/scenario"},
		{"lab/sim", "algorithm/host algorithm algorithm/deadlock internal/draw lab/trace internal/script lab/scenario internal/family internal/family/families internal/family/locks internal/family/elections internal/family/transactions internal/kernel lab/internal/mistake"},
		{"lab/internal/document", "internal/spell internal/words algorithm/host algorithm algorithm/deadlock algorithm/catalog internal/draw lab/trace internal/script lab/scenario internal/family internal/family/families lab/sim"},
		{"internal/member", "algorithm/host algorithm algorithm/deadlock internal/codec"},
		{"internal/explain", "internal/words algorithm/host algorithm internal/member"},
		{"internal/trail", "internal/words algorithm/host algorithm internal/member"},
		{"internal/ticket", "internal/codec internal/member"},
		{"internal/session", "internal/codec internal/share internal/member internal/ticket"},
		{"internal/views", "internal/codec internal/member internal/ticket"},
		{"internal/process", "algorithm/host algorithm internal/codec internal/session internal/member internal/ticket internal/views"},
		{"internal/meter", "internal/member internal/session internal/views internal/process"},
		{"internal/replay", "internal/words algorithm/host algorithm algorithm/deadlock internal/codec internal/session internal/member internal/views internal/process"},
		{"internal/storm", "algorithm/host algorithm algorithm/deadlock lab/trace internal/script lab/scenario internal/kernel internal/member internal/explain internal/session internal/views internal/process internal/words"},
	}
}

// standard lists what pure packages may import from the standard library: what computes,
// and nothing that knows about a clock, chance or the outside.
const standard = "bytes cmp crypto/aes crypto/cipher crypto/subtle encoding/binary encoding/hex encoding/json errors fmt hash/fnv html io iter maps math math/bits reflect slices sort strconv strings text/tabwriter unicode unicode/utf8"

// where may import runtime: it says where in its code an algorithm panicked, and uses it
// for nothing else.
const where = "algorithm/host/errors.go"

// seeded may import math/rand/v2: it draws only from a seed that it is given.
const seeded = "internal/process/process.go"

func pureRules() []rule {
	return []rule{
		{"imports of pure packages", imports, []plant{
			{source("algorithm/x.go", "package algorithm", `import "time"`), "algorithm/x.go:2: algorithm imports time"},
			{source("algorithm/mutex/x.go", "package mutex", `import "math/rand/v2"`), "algorithm/mutex imports math/rand/v2"},
			{source("internal/process/x.go", "package process", `import "math/rand/v2"`), "internal/process imports math/rand/v2"},
			{source(seeded, "package process", `import "math/rand/v2"`), ""},
			{source("lab/sim/x.go", "package sim", `import "os"`), "lab/sim imports os"},
			{source("algorithm/x.go", "package algorithm", `import "runtime"`), "algorithm imports runtime"},
			{source("algorithm/host/errors.go", "package host", `import "runtime"`), ""},
			{source("lab/trace/x.go", "package trace", `import "github.com/other/thing"`), "lab/trace imports github.com/other/thing"},
			{source("algorithm/x.go", "package algorithm", `import "github.com/stile-lock/stile/algorithm/mutex"`), "algorithm imports algorithm/mutex"},
			{source("lab/sim/x.go", "package sim", `import "github.com/stile-lock/stile/algorithm/mutex"`), "lab/sim imports algorithm/mutex"},
			{source("lab/sim/x_test.go", "package sim", `import "github.com/stile-lock/stile/algorithm/mutex"`), ""},
			{source("cmd/stile/x.go", "package main", `import "os"`), ""},
		}},
		{"no goroutine in pure packages", goroutines, []plant{
			{source("lab/sim/x.go", "package sim", "func f() {", "\tgo f()", "}"), "lab/sim/x.go:3: a goroutine"},
			{source("lab/check/x.go", "package check", "func f() {", "\tgo f()", "}"), ""},
		}},
		{"nothing but places in the code is asked of the runtime in pure packages", asksRuntime, []plant{
			{source("algorithm/host/errors.go", "package host", `import "runtime"`, "func f() { runtime.GC() }"), "algorithm/host/errors.go:3: runtime.GC"},
			{source("algorithm/host/errors.go", "package host", `import "runtime"`, "func f() { runtime.Callers(0, nil) }"), ""},
		}},
		{"chance in pure packages comes from a seed", chance, []plant{
			{source(seeded, "package process", `import "math/rand/v2"`, "func f() int { return rand.Int() }"), "internal/process/process.go:3: rand.Int"},
			{source(seeded, "package process", `import "math/rand/v2"`, "func f() *rand.ChaCha8 { return rand.NewChaCha8([32]byte{}) }"), ""},
		}},
		{"no output in pure packages", prints, []plant{
			{source("lab/sim/x.go", "package sim", `import "fmt"`, `func f() { fmt.Println("x") }`), "lab/sim/x.go:3: fmt.Println"},
			{source("lab/sim/x.go", "package sim", `func f() { println("x") }`), "lab/sim/x.go:2: println"},
			{source("lab/sim/x.go", "package sim", `import "fmt"`, `func f() string { return fmt.Sprint("x") }`), ""},
		}},
		{"no range over a map in pure packages", mapRanges, []plant{
			{source("lab/sim/x.go", "package sim", "type m map[int]int", "func f(x struct{ m }) {", "\tfor range x.m {", "\t}", "}"), "lab/sim/x.go:4: a range over a map"},
			{source("lab/sim/x.go", "package sim", `import "maps"`, "func f(x map[int]int) any { return maps.Keys(x) }"), "lab/sim/x.go:3: maps.Keys"},
			{source("lab/sim/x.go", "package sim", `import "maps"`, `import "slices"`, "func f(x map[int]int) []int {", "\tfor range x[0] {", "\t}",
				"\treturn slices.Sorted(maps.Keys(x))", "}"), ""},
		}},
		{"no mutable variable in pure packages", variables, []plant{
			{source("algorithm/x.go", "package algorithm", "var count int"), "algorithm/x.go:2: variable count"},
			{source("algorithm/x.go", "package algorithm", "var table = map[int]int{1: 2}"), "variable table"},
			{source("algorithm/x.go", "package algorithm", "var list = []int{1}"), "variable list"},
			{source("algorithm/x.go", "package algorithm", "var names = [...]string{1: \"a\"}", "func f() { names[0] = \"b\" }"), "algorithm/x.go:3: names is changed"},
			{source("algorithm/x.go", "package algorithm", "var names = [...]struct{ n int }{{1}}", "func f() { names[0].n++ }"), "algorithm/x.go:3: names is changed"},
			{source("algorithm/x.go", "package algorithm", "var names = [...]string{\"a\"}", "func f() []string { return names[:] }"), "algorithm/x.go:3: names is changed"},
			{source("algorithm/x.go", "package algorithm", "var names = [...]string{\"a\"}", "func f() *string { return &names[0] }"), "algorithm/x.go:3: names is changed"},
			{source("algorithm/x.go", "package algorithm", `import "errors"`, `var ErrX = errors.New("x")`, "func f() { ErrX = nil }"), "algorithm/x.go:4: ErrX is changed"},
			{source("algorithm/x.go", "package algorithm", `import "errors"`, `import "slices"`, `var ErrX = errors.New("x")`, "var _ error = ErrX",
				`var names = [...]string{"a"}`,
				"func f(i int) string { return names[i][1:] }", "func g(s string) bool { return slices.Contains(names[:], s) }"), ""},
		}},
	}
}

// pure returns the pure packages that exist.
func (r *repo) pure() []layer {
	return slices.DeleteFunc(layers(), func(l layer) bool { return len(r.in(l.name)) == 0 })
}

func imports(r *repo) ([]string, error) {
	var found []string
	for _, l := range r.pure() {
		allowed := strings.Fields(standard)
		for _, name := range strings.Fields(l.may) {
			allowed = append(allowed, module+"/"+name)
		}
		for _, f := range r.in(l.name) {
			for _, spec := range f.ast.Imports {
				name, _ := strconv.Unquote(spec.Path.Value)
				if !slices.Contains(allowed, name) && (name != "runtime" || f.path != where) && (name != "math/rand/v2" || f.path != seeded) {
					found = append(found, r.at(spec.Pos(), "%s imports %s, which a pure package, or one in its place, may not", l.name, strings.TrimPrefix(name, module+"/")))
				}
			}
		}
	}
	return found, nil
}

// inPure looks at every node of the pure packages.
func inPure(r *repo, look func(n ast.Node) string) ([]string, error) {
	var found []string
	for _, l := range r.pure() {
		for _, f := range r.in(l.name) {
			for n := range ast.Preorder(f.ast) {
				if wrong := look(n); wrong != "" {
					found = append(found, r.at(n.Pos(), "%s in package %s", wrong, l.name))
				}
			}
		}
	}
	return found, nil
}

func goroutines(r *repo) ([]string, error) {
	return inPure(r, func(n ast.Node) string {
		if _, ok := n.(*ast.GoStmt); ok {
			return "a goroutine"
		}
		return ""
	})
}

func asksRuntime(r *repo) ([]string, error) {
	return inPure(r, func(n ast.Node) string {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || types.ExprString(s.X) != "runtime" {
			return ""
		}
		switch s.Sel.Name {
		case "Callers", "CallersFrames", "Frame":
			return ""
		}
		return "runtime." + s.Sel.Name
	})
}

func chance(r *repo) ([]string, error) {
	return inPure(r, func(n ast.Node) string {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || types.ExprString(s.X) != "rand" {
			return ""
		}
		switch s.Sel.Name {
		case "ChaCha8", "NewChaCha8":
			return ""
		}
		return "rand." + s.Sel.Name
	})
}

func prints(r *repo) ([]string, error) {
	return inPure(r, func(n ast.Node) string {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return ""
		}
		switch name := types.ExprString(call.Fun); name {
		case "print", "println", "fmt.Print", "fmt.Printf", "fmt.Println":
			return name
		}
		return ""
	})
}

func mapRanges(r *repo) ([]string, error) {
	var found []string
	for _, l := range r.pure() {
		info, err := r.typed(l.name)
		if err != nil {
			return nil, err
		}
		for _, f := range r.in(l.name) {
			sorted := arguments(f, "slices.Sorted slices.SortedFunc slices.SortedStableFunc")
			for n := range ast.Preorder(f.ast) {
				if wrong := randomOrder(n, info); wrong != "" && !slices.Contains(sorted, n) {
					found = append(found, r.at(n.Pos(), "%s: its order is random", wrong))
				}
			}
		}
	}
	return found, nil
}

// randomOrder says how a node iterates over a map, or nothing if it does not.
func randomOrder(n ast.Node, info *types.Info) string {
	switch n := n.(type) {
	case *ast.RangeStmt:
		t := info.TypeOf(n.X)
		if t == nil {
			return "a range over something unknown"
		}
		if _, ok := t.Underlying().(*types.Map); ok {
			return "a range over a map"
		}
	case *ast.CallExpr:
		switch name := types.ExprString(n.Fun); name {
		case "maps.Keys", "maps.Values", "maps.All":
			return name
		}
	}
	return ""
}

// arguments returns the arguments of all calls to these functions.
func arguments(f *file, functions string) []ast.Node {
	var args []ast.Node
	for n := range ast.Preorder(f.ast) {
		call, ok := n.(*ast.CallExpr)
		if ok && slices.Contains(strings.Fields(functions), types.ExprString(call.Fun)) {
			for _, a := range call.Args {
				args = append(args, a)
			}
		}
	}
	return args
}

// readers are functions that take a slice and neither change nor keep it.
const readers = "slices.Contains slices.ContainsFunc slices.Index slices.IndexFunc slices.Clone slices.Concat strings.Join"

// variables allows two kinds of package variables: errors, and tables that are arrays.
// Neither may be changed, nor may other code obtain a way to do so.
func variables(r *repo) ([]string, error) {
	var found []string
	for _, l := range r.pure() {
		info, err := r.typed(l.name)
		if err != nil {
			return nil, err
		}
		for _, f := range r.in(l.name) {
			for _, decl := range f.ast.Decls {
				if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
					found = append(found, r.mutable(d, info)...)
				}
			}
			read := arguments(f, readers)
			for n := range ast.Preorder(f.ast) {
				for _, x := range changed(n, info) {
					if v := packageVariable(x, info); v != nil && !slices.Contains(read, n) {
						found = append(found, r.at(n.Pos(), "%s is changed, or could be by who gets it", v.Name()))
					}
				}
			}
		}
	}
	return found, nil
}

func (r *repo) mutable(d *ast.GenDecl, info *types.Info) []string {
	var found []string
	for _, spec := range d.Specs {
		for _, name := range spec.(*ast.ValueSpec).Names {
			v := info.Defs[name]
			if name.Name == "_" || v != nil && constant(v.Type()) {
				continue
			}
			found = append(found, r.at(name.Pos(), "variable %s: a pure package has no state; only errors and array tables may be variables", name.Name))
		}
	}
	return found
}

func constant(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Array); ok {
		return true
	}
	return types.Identical(t, types.Universe.Lookup("error").Type())
}

// changed returns the expressions that a node changes, or lets other code change.
func changed(n ast.Node, info *types.Info) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.SliceExpr:
		if t := info.TypeOf(n.X); t != nil {
			if _, ok := t.Underlying().(*types.Array); ok {
				return []ast.Expr{n.X}
			}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	}
	return nil
}

// packageVariable returns the package variable that x is, or is part of, or nil.
func packageVariable(x ast.Expr, info *types.Info) types.Object {
	for {
		switch e := x.(type) {
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.Ident:
			v, ok := info.Uses[e].(*types.Var)
			if ok && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
}
