package style

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Go code on pages is often a fragment: it stands in a function, and uses names that only
// its reader has. These declare them.
const aroundSnippets = `
	type (
		message struct{ kind uint8 }
		msg     = message
		state   struct{ waits bool }
		)
	const ask, done uint8 = 0, 1
	const coordinator algorithm.ID = 0
	var (
		ctx       context.Context
		node      *stile.Node
		client    *stile.Client
		c         stile.Locker
		lock      *stile.Lock
		db        database
		election  *stile.Election
		name      string
		order     struct{}
	)
	type database struct{ *sql.DB }
	func (database) Write(context.Context, any, stile.Token) error { return nil }
	func schedule(context.Context, stile.Token) error { return nil }
	func work(context.Context, stile.Token) error { return nil }
	func transfer(context.Context) error { return nil }
	func connect(string) {}
`

// imported are the packages that snippets use without an import.
var imported = map[string]string{
	"algorithm": module + "/algorithm", "stile": module, "context": "context", "errors": "errors", "fmt": "fmt", "log": "log",
	"sql": "database/sql", "time": "time", "http": "net/http", "os": "os",
}

// snippet returns why a block of Go does not compile, or nil. A name that is declared and
// not used is no error.
func snippet(text string) error {
	if strings.HasPrefix(strings.TrimSpace(regexp.MustCompile(`(?m)^//.*$`).ReplaceAllString(text, "")), "package ") {
		return compiles(map[string]string{"snippet.go": text})
	}
	around := aroundSnippets + text
	if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0); err != nil {
		around = aroundSnippets + "func _() error {\n" + text + "\nreturn nil\n}\n"
		if _, err := parser.ParseFile(token.NewFileSet(), "", "package p\nvar _ = "+text, 0); err == nil && !strings.HasPrefix(text, "func") {
			around = aroundSnippets + "var _ = " + text
		}
	}
	var head strings.Builder
	head.WriteString("package snippet\n")
	for _, name := range slices.Sorted(maps.Keys(imported)) {
		fmt.Fprintf(&head, "import %s %q\n", name, imported[name])
	}
	imp, err := compiled()
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", head.String()+around, 0)
	if err != nil {
		return err
	}
	var wrong []error
	config := types.Config{Importer: imp, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft && !strings.Contains(e.Msg, "is not used") {
			wrong = append(wrong, err)
		}
	}}
	_, _ = config.Check("snippet", fset, []*ast.File{file}, nil)
	return errors.Join(wrong...)
}

// wholePages have code that other tests compile, as the files that it makes together.
var wholePages = []string{"docs/your-first-algorithm.md", "docs/exercise.md", "docs/outside.md"}

// The Go of the book compiles, and its scenarios meet their expectations.
func TestSnippets(t *testing.T) {
	count := 0
	for name, page := range bookPages(t) {
		for _, b := range blocks(page) {
			var err error
			switch {
			case slices.Contains(wholePages, name):
				continue
			case b.lang == "go":
				err = snippet(b.text)
			case b.lang == "stile":
				err = replays(b.text)
			default:
				continue
			}
			if count++; err != nil {
				t.Errorf("%s: %v\n%s", name, err, b.text)
			}
		}
	}
	if count < 15 {
		t.Errorf("only %d snippets: how are they written?", count)
	}
}

func TestSnippetsPlanted(t *testing.T) {
	for text, says := range map[string]string{
		"lock, err := node.Lock(ctx, name)\nif err != nil {\n\treturn err\n}\nlock, err = client.TryLock(ctx, name)\n": "",
		"lock, err := node.Lok(ctx, name)\n":             "node.Lok undefined",
		"lock, err := node.Lock(ctx)\n":                  "not enough arguments",
		"func f() stile.Token { return lock.Token() }\n": "",
		"func f() int { return lock.Token() }\n":         "cannot use lock.Token()",
		"stile.Config{Algorithm: \"kept/=kept\"}\n":      "",
		"stile.Config{Algorithms: \"kept/=kept\"}\n":     "unknown field Algorithms",
		"package p\n\nimport \"fmt\"\n":                  "imported and not used",
	} {
		err := snippet(text)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", text, err, says)
		}
	}
}
