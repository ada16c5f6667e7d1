package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is a change of one place in a file.
type mutant struct {
	file     string
	line     int
	from, to int // offsets of what is replaced
	by       string
	old      []byte // the file
}

func (m mutant) change() string {
	by := m.by
	if by == "" {
		by = "nothing"
	}
	return fmt.Sprintf("%s -> %s", strings.Join(strings.Fields(string(m.old[m.from:m.to])), " "), by)
}

// source returns the changed file.
func (m mutant) source() []byte { return slices.Concat(m.old[:m.from], []byte(m.by), m.old[m.to:]) }

// swaps are the operators that a mutant replaces, and by what.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutantsOf returns all mutants of a package. Some do not compile, because types are not
// considered.
func mutantsOf(dir string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		some, err := mutantsIn(file, b)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// mutantsIn returns all mutants of a file.
func mutantsIn(file string, b []byte) ([]mutant, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, b, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	replace := func(from, to token.Pos, by string) {
		all = append(all, mutant{file, set.Position(from).Line, set.Position(from).Offset, set.Position(to).Offset, by, b})
	}
	text := func(n ast.Node) string { return string(b[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]) }
	negate := func(cond ast.Expr) {
		if cond != nil {
			replace(cond.Pos(), cond.End(), "!("+text(cond)+")")
		}
	}
	drop := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE {
					continue
				}
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.BranchStmt:
			default:
				continue
			}
			replace(s.Pos(), s.End(), "")
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.StructType:
			return false
		case *ast.IfStmt:
			negate(n.Cond)
		case *ast.ForStmt:
			negate(n.Cond)
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.CommClause:
			drop(n.Body)
		case *ast.BinaryExpr:
			if by, ok := swaps[n.Op]; ok {
				replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), by.String())
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				replace(n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		}
		return true
	})
	return all, nil
}
