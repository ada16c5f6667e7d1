package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// visit creates the mutants of a node, and returns what is put around it, the outermost
// first.
func (f *finder) visit(n ast.Node) []wrap {
	if len(f.stack) == 0 {
		return nil
	}
	var all []wrap
	if s, ok := n.(ast.Stmt); ok {
		all = append(all, f.drop(s)...)
	}
	e, ok := n.(ast.Expr)
	if !ok || f.typeOf(e) == nil || f.info.Types[e].IsType() {
		return all
	}
	all = append(all, f.swapped(e)...)
	all = append(all, f.kept(e)...)
	all = append(all, f.condition(e)...)
	all = append(all, f.returned(e)...)
	all = append(all, f.operand(e)...)
	all = append(all, f.literal(e)...)
	if b, ok := e.(*ast.BinaryExpr); ok && !f.constant(e) {
		all = append(all, f.binary(b)...)
	}
	if id, ok := e.(*ast.Ident); ok {
		f.minMax(id)
	}
	return all
}

// listed reports whether a statement is in a list, and whether it is the last one of its
// function.
func (f *finder) listed(s ast.Stmt) (listed, last bool) {
	switch p := f.parent().(type) {
	case *ast.BlockStmt:
		if len(f.stack) > 1 {
			switch f.stack[len(f.stack)-2].(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				last = p.List[len(p.List)-1] == s
			}
		}
		return slices.Contains(p.List, s), last
	case *ast.CaseClause:
		return slices.Contains(p.Body, s), false
	case *ast.CommClause:
		return slices.Contains(p.Body, s), false
	}
	return false, false
}

// drop drops a statement.
func (f *finder) drop(s ast.Stmt) []wrap {
	listed, last := f.listed(s)
	what := f.text(s)
	switch s := s.(type) {
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok && f.builtin(c) == "panic" {
			return nil // the compiler knows that nothing follows it
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || f.allKeepable(s) && (len(s.Lhs) > 1 || !listed) {
			return nil
		}
	case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
	case *ast.BranchStmt:
		if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			return nil
		}
	case *ast.ReturnStmt:
		if last || f.results().Len() > 0 {
			return nil
		}
	case *ast.RangeStmt:
		what = "the loop"
	case *ast.ForStmt:
		if s.Cond == nil {
			return nil
		}
		what = "the loop"
	default:
		return nil
	}
	if !listed {
		return nil
	}
	n := f.add(s, "drop %s", what)
	return []wrap{{fmt.Sprintf("if !mutantOn(%d) { ", n), " }"}}
}

// results returns the results of the innermost function.
func (f *finder) results() *types.Tuple {
	for _, n := range slices.Backward(f.stack) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return f.info.Defs[n.Name].Type().(*types.Signature).Results()
		case *ast.FuncLit:
			return f.typeOf(n).(*types.Signature).Results()
		}
	}
	return types.NewTuple()
}

// keepable reports whether one part of an assignment can be skipped: reading the left side
// has no effect, and both sides have one type.
func (f *finder) keepable(s *ast.AssignStmt, i int) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) || types.ExprString(s.Lhs[i]) == "_" {
		return false
	}
	pure := true
	ast.Inspect(s.Lhs[i], func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		pure = pure && !call
		return pure
	})
	tv := f.info.Types[s.Rhs[i]]
	return pure && (tv.IsNil() || tv.Value != nil || types.Identical(tv.Type, f.typeOf(s.Lhs[i])))
}

func (f *finder) allKeepable(s *ast.AssignStmt) bool {
	for i := range s.Lhs {
		if !f.keepable(s, i) {
			return false
		}
	}
	return true
}

// kept skips one of several simultaneous assignments, or one that cannot be dropped.
func (f *finder) kept(e ast.Expr) []wrap {
	s, ok := f.parent().(*ast.AssignStmt)
	if !ok || !f.allKeepable(s) {
		return nil
	}
	i := slices.Index(s.Rhs, e)
	f.stack = f.stack[:len(f.stack)-1]
	listed, _ := f.listed(s)
	f.stack = append(f.stack, s)
	if i < 0 || listed && len(s.Lhs) == 1 {
		return nil
	}
	n := f.add(s, "keep %s", f.text(s.Lhs[i]))
	return []wrap{{fmt.Sprintf("mutantKeep(%d, %s, ", n, f.text(s.Lhs[i])), ")"}}
}

// condition negates the condition of a branch, or makes it false.
func (f *finder) condition(e ast.Expr) []wrap {
	never := true
	switch p := f.parent().(type) {
	case *ast.IfStmt:
		if p.Cond != e {
			return nil
		}
	case *ast.ForStmt:
		if p.Cond != e {
			return nil
		}
		never = false
	case *ast.CaseClause:
		s, ok := f.stack[len(f.stack)-3].(*ast.SwitchStmt)
		if !ok || s.Tag != nil || !slices.Contains(p.List, e) {
			return nil
		}
	default:
		return nil
	}
	if !isBool(f.typeOf(e)) {
		return nil
	}
	n := f.add(e, "negate %s", f.text(e))
	after := fmt.Sprintf(") != mutantOn(%d))", n)
	if never {
		after += fmt.Sprintf(" && !mutantOn(%d)", f.add(e, "never %s", f.text(e)))
	}
	return []wrap{{"((", after}}
}

// returned replaces the results of a function: truth values and errors.
func (f *finder) returned(e ast.Expr) []wrap {
	r, ok := f.parent().(*ast.ReturnStmt)
	i := -1
	if ok {
		i = slices.Index(r.Results, e)
	}
	if i < 0 || len(r.Results) != f.results().Len() {
		return f.truth(e)
	}
	switch t := f.results().At(i).Type(); {
	case isBool(t):
		return []wrap{{"((", fmt.Sprintf(") != mutantOn(%d))", f.add(e, "return the opposite"))}}
	case !isError(t):
		return nil
	case f.info.Types[e].IsNil():
		return []wrap{{fmt.Sprintf("mutantFail(%d, ", f.add(e, "return an error")), ")"}}
	default:
		return []wrap{{fmt.Sprintf("mutantPass(%d, ", f.add(e, "return no error")), ")"}}
	}
}

// truth exchanges true and false where they are passed on.
func (f *finder) truth(e ast.Expr) []wrap {
	id, ok := e.(*ast.Ident)
	if !ok || !f.constant(e) || id.Name != "true" && id.Name != "false" {
		return nil
	}
	if s, ok := f.parent().(*ast.AssignStmt); ok && s.Tok != token.DEFINE {
		return nil // skipping it is the same or less
	}
	return []wrap{{"((", fmt.Sprintf(") != mutantOn(%d))", f.add(e, "not %s", id.Name))}}
}

// operand drops one side of && and ||.
func (f *finder) operand(e ast.Expr) []wrap {
	p, ok := f.parent().(*ast.BinaryExpr)
	if !ok || p.Op != token.LAND && p.Op != token.LOR {
		return nil
	}
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == p.Op {
		return nil // its own operands are dropped
	}
	n := f.add(e, "leave out %s", f.text(e))
	if p.Op == token.LAND {
		return []wrap{{fmt.Sprintf("(mutantOn(%d) || (", n), "))"}}
	}
	return []wrap{{fmt.Sprintf("(!mutantOn(%d) && (", n), "))"}}
}

var compared = map[token.Token]struct{ helper, other string }{
	token.LSS: {"mutantLess", "<="},
	token.LEQ: {"mutantLessEqual", "<"},
	token.GTR: {"mutantGreater", ">="},
	token.GEQ: {"mutantGreaterEqual", ">"},
}

var computed = map[token.Token]struct {
	helper string
	others []string
}{
	token.ADD:     {"mutantAdd", []string{"%[1]s - %[2]s"}},
	token.SUB:     {"mutantSub", []string{"%[1]s + %[2]s", "%[2]s - %[1]s"}},
	token.MUL:     {"mutantMul", []string{"%[1]s / %[2]s"}},
	token.QUO:     {"mutantQuo", []string{"%[1]s * %[2]s", "%[2]s / %[1]s"}},
	token.REM:     {"mutantRem", []string{"%[2]s %% %[1]s"}},
	token.AND:     {"mutantAnd", []string{"%[1]s | %[2]s"}},
	token.OR:      {"mutantOr", []string{"%[1]s & %[2]s"}},
	token.AND_NOT: {"mutantAndNot", []string{"%[1]s & %[2]s"}},
}

// binary changes an operator, moves a result by one, or exchanges operands.
func (f *finder) binary(b *ast.BinaryExpr) []wrap {
	if s, ok := compared[b.Op]; ok {
		if f.constant(b.X) && f.constant(b.Y) {
			return nil
		}
		n := f.add(b, "%s %s %s", f.text(b.X), s.other, f.text(b.Y))
		return []wrap{f.call(b, s.helper, n)}
	}
	s, ok := computed[b.Op]
	if !ok || !isInteger(f.typeOf(b)) {
		return nil
	}
	var all []wrap
	if arithmetic(b) && !arithmetic(f.beyond()) && !isTime(f.typeOf(b)) {
		all = append(all, f.moved(b)...)
	}
	first := -1
	for _, other := range s.others {
		n := f.add(b, other, f.text(b.X), f.text(b.Y))
		if first < 0 {
			first = n
		}
	}
	return append(all, f.call(b, s.helper, first))
}

// call turns an operator into a call: its operands become arguments.
func (f *finder) call(b *ast.BinaryExpr, helper string, n int) wrap {
	at := f.offset(b.OpPos)
	f.edits = append(f.edits, edit{at, at + len(b.Op.String()), ","})
	return wrap{fmt.Sprintf("%s(%d, ", helper, n), ")"}
}

func arithmetic(n ast.Node) bool {
	b, ok := n.(*ast.BinaryExpr)
	return ok && slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO, token.REM}, b.Op)
}

// beyond returns the parent, skipping parentheses.
func (f *finder) beyond() ast.Node {
	for _, n := range slices.Backward(f.stack) {
		if _, ok := n.(*ast.ParenExpr); !ok {
			return n
		}
	}
	return nil
}

// moved adds or subtracts one, but not both where one of these equals another operator or
// means little.
func (f *finder) moved(e ast.Expr) []wrap {
	spelled := f.spell(f.typeOf(e), e.Pos())
	if spelled == "" {
		return nil
	}
	text, up, down := f.text(e), true, true
	where := ""
	if p, ok := f.beyond().(*ast.BinaryExpr); ok {
		where = " in " + f.text(p)
		left := p.X == e
		switch p.Op {
		case token.LSS, token.GEQ:
			up, down = left, !left
		case token.GTR, token.LEQ:
			up, down = !left, left
		case token.EQL, token.NEQ: // numbers for which 0 means none are never 1
			up, down = text != "0", text != "0"
		}
	}
	down = down && text != "-1" && !isTime(f.typeOf(e))
	var all []wrap
	if up {
		all = append(all, wrap{fmt.Sprintf("mutantMove[%s](%d, 1, ", spelled, f.add(e, "%s + 1%s", text, where)), ")"})
	}
	if down {
		all = append(all, wrap{fmt.Sprintf("mutantMove[%s](%d, -1, ", spelled, f.add(e, "%s - 1%s", text, where)), ")"})
	}
	return all
}

// literal moves a written integer constant by one.
func (f *finder) literal(e ast.Expr) []wrap {
	t := f.typeOf(e)
	if !f.constant(e) || !isInteger(t) || !written(e) {
		return nil
	}
	factor := false
	switch p := f.beyond().(type) {
	case *ast.ReturnStmt:
		if last := p.Results[len(p.Results)-1]; len(p.Results) > 1 && isError(f.typeOf(last)) && !f.info.Types[last].IsNil() {
			return nil // it is not used
		}
	case *ast.BinaryExpr:
		if p.Op == token.ADD || p.Op == token.SUB {
			return nil // the sum is moved instead
		}
		factor = arithmetic(p) // a number, though it has the type of the other
	}
	if isTime(t) && !factor {
		return nil
	}
	return f.moved(e)
}

// written reports whether a constant expression contains a number.
func written(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		found = found || ok && l.Kind == token.INT
		return !found
	})
	return found
}

// minMax exchanges min and max.
func (f *finder) minMax(id *ast.Ident) {
	c, ok := f.parent().(*ast.CallExpr)
	if !ok || c.Fun != id || len(c.Args) < 2 || f.constant(c) {
		return
	}
	helper, other := "mutantMin", "max"
	switch f.builtin(c) {
	case "min":
	case "max":
		helper, other = "mutantMax", "min"
	default:
		return
	}
	n := f.add(c, "%s for %s", other, f.text(c))
	f.edits = append(f.edits, edit{f.offset(c.Pos()), f.offset(c.Lparen) + 1, fmt.Sprintf("%s(%d, ", helper, n)})
}

// swapped exchanges the arguments of a call that has two of one type.
func (f *finder) swapped(e ast.Expr) []wrap {
	c, ok := f.parent().(*ast.CallExpr)
	if !ok || len(c.Args) != 2 || c.Ellipsis.IsValid() || f.silent(c) || strings.HasSuffix(f.text(c.Fun), ".Equal") {
		return nil
	}
	s, ok := f.typeOf(c.Fun).(*types.Signature)
	if !ok || f.builtin(c) != "" || s.Variadic() || !types.Identical(f.typeOf(c.Args[0]), f.typeOf(c.Args[1])) || f.constant(c.Args[0]) && f.constant(c.Args[1]) {
		return nil
	}
	switch e {
	case c.Args[0]:
		return []wrap{{fmt.Sprintf("mutantSwap(%d, ", f.add(c, "exchange the arguments of %s", f.text(c))), ""}}
	case c.Args[1]:
		return []wrap{{"", ")"}}
	}
	return nil
}
