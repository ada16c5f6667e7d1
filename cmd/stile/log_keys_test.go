package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// logCalls maps methods that log to the number of arguments before the keys and values.
var logCalls = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "Log": 3}

// logKeys returns the keys of all log lines in a file: of calls on something called log, and
// of lists of arguments called args.
func logKeys(name string, source any) (keys map[string]string, err error) {
	set := gotoken.NewFileSet()
	f, err := parser.ParseFile(set, name, source, 0)
	if err != nil {
		return nil, err
	}
	keys = map[string]string{}
	add := func(args []ast.Expr) {
		for i := 0; i < len(args); i += 2 {
			at := set.Position(args[i].Pos()).String()
			if l, ok := args[i].(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
				key, _ := strconv.Unquote(l.Value) // the parser has checked it
				keys[key] = at
			} else if id, ok := args[i].(*ast.Ident); !ok || id.Name != "args" {
				keys["not a literal"] = at
			}
		}
	}
	for n := range ast.Preorder(f) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				skip, logs := logCalls[s.Sel.Name]
				var of string
				switch x := s.X.(type) {
				case *ast.Ident:
					of = x.Name
				case *ast.SelectorExpr:
					of = x.Sel.Name
				}
				if s.Sel.Name == "Log" { // also of a Refrain
					of = "log"
				}
				if l, ok := firstOf(n.Args).(*ast.BasicLit); ok && l.Kind == gotoken.STRING && s.Sel.Name == "Add" { // of a slog.Record
					add(n.Args)
				}
				if logs && strings.EqualFold(of, "log") && len(n.Args) >= skip {
					add(n.Args[skip:])
				}
			}
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "append" && len(n.Args) > 1 && fmt.Sprint(n.Args[0]) == "args" {
				add(n.Args[1:])
			}
		case *ast.AssignStmt:
			if l, ok := n.Rhs[0].(*ast.CompositeLit); ok && fmt.Sprint(n.Lhs[0]) == "args" {
				add(l.Elts)
			}
		}
	}
	return keys, nil
}

func firstOf(args []ast.Expr) ast.Expr {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

// All log lines use the keys that the page explains, and no others.
func TestLogKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Logs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var explained, used []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(section, -1) {
		for key := range strings.SplitSeq(row[1], ", ") {
			explained = append(explained, strings.Trim(key, "`"))
		}
	}
	for _, dir := range []string{".", "../../internal/node"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			keys, err := logKeys(path, nil)
			for key, at := range keys {
				if used = append(used, key); !slices.Contains(explained, key) {
					t.Errorf("%s: key %q: use one of those in docs/monitoring.md, or add it there: %q", at, key, explained)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, key := range explained {
		if !slices.Contains(used, key) {
			t.Errorf("no line has the key %q", key)
		}
	}
	keys, err := logKeys("x.go", `package p
func f() { n.c.Log.Info("x", "one", 1); log.With("two", 2).Warn("x"); r.Log(l, level, "x", "three", 3); log.Error("x", key, 1)
	args := []any{"four", 4}; args = append(args, "five", 5); log.Log(ctx, level, "x", args...); fmt.Error("x", "no", 1) }`)
	if want := []string{"five", "four", "not a literal", "one", "three", "two"}; err != nil || len(keys) != len(want) {
		t.Errorf("found %v, %v, want %q", keys, err, want)
	}
}

// Durations are text in all formats.
func TestLogDurations(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		newLogger(&b, format, "info").Info("node stopping", "drain", 1500*time.Millisecond)
		if !strings.Contains(b.String(), "1.5s") {
			t.Errorf("%s: %s", format, b.String())
		}
	}
}
