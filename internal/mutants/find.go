package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A mutant is one small change of the source.
type mutant struct {
	Number   int    // selects it at run time
	File     string // relative to the repository
	Line     int
	Function string // Type.method, a function, or "package"
	Code     string // the source line
	Change   string // what was changed in it
	Nth      int    // number among mutants of a function with the same text
	body     string // source of the function
}

// id identifies a mutant in the list of equivalent ones. It survives edits of other lines.
func (m *mutant) id() string {
	s := m.File + " " + m.Function + "\n" + m.Code + "\n" + m.Change
	if m.Nth > 1 {
		s += fmt.Sprintf(" (%d)", m.Nth)
	}
	return s
}

// An edit replaces source text.
type edit struct {
	from, to int // offsets
	text     string
}

// A wrap is what a mutation puts around a node.
type wrap struct{ before, after string }

// A finder walks one file and collects its mutants, and the edits that put them into its
// source. Edits wrap nodes and never insert a line break, so lines keep their numbers.
type finder struct {
	pkg   *types.Package
	info  *types.Info
	file  *ast.File
	src   []byte
	start token.Pos // of the file

	name    string
	base    int // lower numbers belong to other files
	stack   []ast.Node
	pending [][]wrap // of the nodes on the stack
	edits   []edit
	mutants []mutant
}

func (f *finder) walk() {
	ast.Inspect(f.file, func(n ast.Node) bool {
		if n == nil {
			top := len(f.stack) - 1
			node, wraps := f.stack[top], f.pending[top]
			f.stack, f.pending = f.stack[:top], f.pending[:top]
			for _, w := range slices.Backward(wraps) {
				f.insert(node.End(), w.after)
			}
			return true
		}
		if f.excluded(n) {
			return false
		}
		wraps := f.visit(n)
		for _, w := range wraps {
			f.insert(n.Pos(), w.before)
		}
		f.stack, f.pending = append(f.stack, n), append(f.pending, wraps)
		if f.silent(n) { // its own result may be changed, but not what is inside
			for _, w := range slices.Backward(wraps) {
				f.insert(n.End(), w.after)
			}
			f.stack, f.pending = f.stack[:len(f.stack)-1], f.pending[:len(f.pending)-1]
			return false
		}
		return true
	})
	slices.SortStableFunc(f.edits, func(a, b edit) int { // insertions come before replacements
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(min(1, a.to-a.from), min(1, b.to-b.from)))
	})
}

func (f *finder) offset(p token.Pos) int { return int(p - f.start) }

func (f *finder) insert(p token.Pos, text string) {
	if text != "" {
		f.edits = append(f.edits, edit{f.offset(p), f.offset(p), text})
	}
}

func (f *finder) text(n ast.Node) string {
	return strings.Join(strings.Fields(string(f.src[f.offset(n.Pos()):f.offset(n.End())])), " ")
}

// add creates a mutant and returns its number.
func (f *finder) add(at ast.Node, change string, args ...any) int {
	line := f.file.FileStart
	for i := f.offset(at.Pos()); i > 0; i-- {
		if f.src[i-1] == '\n' {
			line = f.start + token.Pos(i)
			break
		}
	}
	code, _, _ := strings.Cut(string(f.src[f.offset(line):]), "\n")
	code, _, _ = strings.Cut(strings.TrimSpace(code), " // ")
	m := mutant{Number: f.base + len(f.mutants), File: f.name, Code: strings.TrimSpace(code), Change: fmt.Sprintf(change, args...), Nth: 1, Function: "package"}
	m.Line = 1 + strings.Count(string(f.src[:f.offset(at.Pos())]), "\n")
	for _, n := range f.stack {
		if d, ok := n.(*ast.FuncDecl); ok {
			m.Function, m.body = name(d), string(f.src[f.offset(d.Pos()):f.offset(d.End())])
		}
	}
	for _, o := range f.mutants {
		if o.Function == m.Function && o.Code == m.Code && o.Change == m.Change {
			m.Nth++
		}
	}
	f.mutants = append(f.mutants, m)
	return m.Number
}

// name returns the name of a function, with its receiver's type.
func name(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*") + "." + d.Name.Name
}

func (f *finder) parent() ast.Node { return f.stack[len(f.stack)-1] }

// excluded reports whether neither a node nor its contents are mutated: where the language
// requires constants, and where tests break rules.
func (f *finder) excluded(n ast.Node) bool {
	if len(f.stack) == 0 {
		return false
	}
	switch p := f.parent().(type) {
	case *ast.KeyValueExpr:
		if n == p.Key {
			return true
		}
	case *ast.CallExpr: // capacities change nothing
		if f.builtin(p) == "make" && slices.Index(p.Args, exprOf(n)) == 2 {
			return true
		}
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.VAR
	case *ast.ArrayType, *ast.StructType, *ast.FuncType, *ast.InterfaceType, *ast.CommentGroup, *ast.FieldList:
		return true
	}
	return false
}

func exprOf(n ast.Node) ast.Expr {
	e, _ := n.(ast.Expr)
	return e
}

// silent reports whether the contents of a node are not mutated: constants are changed as a
// whole, and error texts are for people.
func (f *finder) silent(n ast.Node) bool {
	if c, ok := n.(*ast.CallExpr); ok {
		fun := types.ExprString(c.Fun)
		if strings.HasPrefix(fun, "fmt.") || strings.HasPrefix(fun, "errors.") {
			return true
		}
	}
	e, ok := n.(ast.Expr)
	return ok && f.constant(e)
}

// builtin returns the name of the called built-in function, or "".
func (f *finder) builtin(c *ast.CallExpr) string {
	if id, ok := c.Fun.(*ast.Ident); ok && f.info.Types[id].IsBuiltin() {
		return id.Name
	}
	return ""
}

// typeOf returns the type of an expression; if it is untyped, the type it is used as.
func (f *finder) typeOf(e ast.Expr) types.Type { return f.info.Types[e].Type }

func (f *finder) constant(e ast.Expr) bool { return f.info.Types[e].Value != nil }

func isBool(t types.Type) bool {
	return t == types.Typ[types.Bool] || t == types.Typ[types.UntypedBool]
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isInteger(t types.Type) bool {
	b, ok := t.(*types.Basic)
	if n, named := t.(*types.Named); named {
		b, ok = n.Underlying().(*types.Basic)
	}
	return ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUntyped == 0
}

// isTime reports whether a type counts nanoseconds, where one more or less means nothing.
func isTime(t types.Type) bool {
	n, ok := t.(*types.Named)
	return ok && slices.Contains([]string{"Instant", "Span", "Duration"}, n.Obj().Name())
}

// spell returns how a type is written at a place, or "" if it cannot be.
func (f *finder) spell(t types.Type, at token.Pos) string {
	scope := f.pkg.Scope().Innermost(at)
	ok := true
	s := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		_, o := scope.LookupParent(p.Name(), at)
		i, imported := o.(*types.PkgName)
		ok = ok && imported && i.Imported() == p
		return p.Name()
	})
	if n, named := t.(*types.Named); named && n.Obj().Pkg() == f.pkg {
		_, o := scope.LookupParent(n.Obj().Name(), at)
		ok = ok && o == n.Obj()
	}
	if !ok {
		return ""
	}
	return s
}
