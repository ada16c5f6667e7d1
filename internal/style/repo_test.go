package style

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/stile-lock/stile"

// root is the path of the repository, relative to this package.
const root = "../.."

// A repo is what the rules read: all Go and Markdown files, and the sources of the
// lab's page.
type repo struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []*file
	texts []text
	page  []text
}

// A file is a Go file.
type file struct {
	path string
	src  []byte
	ast  *ast.File
}

// A text is a Markdown file, or a source of the page.
type text struct {
	path string
	src  string
}

func load(fsys fs.FS) (*repo, error) {
	r := &repo{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		return r.read(name)
	})
	return r, err
}

func (r *repo) read(name string) error {
	ext := path.Ext(name)
	page := strings.HasPrefix(name, "lab/web/src/")
	if ext != ".go" && ext != ".md" && !page {
		return nil
	}
	src, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		return err
	}
	if page {
		r.page = append(r.page, text{name, string(src)})
		return nil
	}
	if ext == ".md" {
		r.texts = append(r.texts, text{name, string(src)})
		return nil
	}
	f, err := parser.ParseFile(r.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	r.files = append(r.files, &file{name, src, f})
	return nil
}

func (f *file) dir() string { return path.Dir(f.path) }

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *file) isGenerated() bool { return ast.IsGenerated(f.ast) }

// at says where something is and what is wrong with it.
func (r *repo) at(pos token.Pos, format string, args ...any) string {
	p := r.fset.Position(pos)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// dirs returns the folders that hold Go files other than tests.
func (r *repo) dirs() []string {
	var dirs []string
	for _, f := range r.files {
		if !f.isTest() && !slices.Contains(dirs, f.dir()) {
			dirs = append(dirs, f.dir())
		}
	}
	return dirs
}

// in returns the Go files of a folder, except tests.
func (r *repo) in(dir string) []*file {
	var files []*file
	for _, f := range r.files {
		if f.dir() == dir && !f.isTest() {
			files = append(files, f)
		}
	}
	return files
}

// typed returns the types of a folder's package. A planted offender may import what does
// not exist: then a part is unknown, which is not an error.
func (r *repo) typed(dir string) (*types.Info, error) {
	imp, err := compiled()
	if err != nil {
		return nil, err
	}
	var asts []*ast.File
	for _, f := range r.in(dir) {
		asts = append(asts, f.ast)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: imp, Error: func(error) {}}
	_, _ = config.Check(module+"/"+dir, r.fset, asts, info)
	return info, nil
}

// compiled imports the packages of the repository, what tests need, and all their
// dependencies, from the go command's cache.
var compiled = sync.OnceValues(func() (types.Importer, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...", "testing", "net/http/httptest")
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, export, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		if exports[name] == "" {
			return nil, fmt.Errorf("no package %s", name)
		}
		return os.Open(exports[name])
	}), nil
})

// A rule finds its violations.
type rule struct {
	name   string
	check  func(r *repo) ([]string, error)
	plants []plant
}

// A plant is a small repository that violates a rule. want is part of the only finding,
// or empty if there must be none.
type plant struct {
	files map[string]string
	want  string
}

func rules() []rule {
	return slices.Concat(pureRules(), outerRules(), houseRules())
}

func TestRepository(t *testing.T) {
	r, err := load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.files) < 20 {
		t.Fatalf("only %d Go files: is %s the repository?", len(r.files), root)
	}
	for _, rule := range rules() {
		t.Run(rule.name, func(t *testing.T) {
			found, err := rule.check(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}
