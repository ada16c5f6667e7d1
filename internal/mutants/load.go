package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// helpers is what rewritten sources call, without its package clause.
//
//go:embed runtime.txt
var helpers string

// A suite is a package with all its mutants.
type suite struct {
	dir     string // relative to the repository
	root    string // the repository
	limits  limits
	mutants []mutant
	sources map[string][]byte // rewritten sources, by path
}

// load finds the mutants of the package in a folder, and rewrites its sources.
func load(root, dir string) (*suite, error) {
	root, err := filepath.Abs(root) // an overlay needs absolute paths
	if err != nil {
		return nil, err
	}
	out, err := command(root, "go", "list", "-e=false", "-export", "-deps", "-f", `{{.ImportPath}} {{.Export}} {{if not .DepOnly}}{{join .GoFiles " "}}{{end}}`, "./"+dir)
	if err != nil {
		return nil, err
	}
	exports, path := map[string]string{}, ""
	var names []string
	for line := range strings.Lines(out) {
		all := strings.Fields(line)
		if len(all) > 1 {
			exports[all[0]] = all[1]
		}
		if len(all) > 2 {
			path, names = all[0], all[2:]
		}
	}
	fset := token.NewFileSet()
	s := &suite{dir: dir, root: root, limits: usual(), sources: map[string][]byte{}}
	var files []*ast.File
	var texts [][]byte
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files, texts = append(files, file), append(texts, text)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		f := &finder{pkg: pkg, info: info, file: file, src: texts[i], start: file.FileStart, name: dir + "/" + names[i], base: len(s.mutants)}
		f.walk()
		s.mutants = append(s.mutants, f.mutants...)
		s.sources[filepath.Join(root, dir, names[i])] = f.rewritten()
	}
	s.sources[filepath.Join(root, dir, "mutants_of_this_package.go")] = fmt.Appendf(nil, "package %s\n\n%s\nconst (\n\tmutantPackage = %q\n\tmutantCount = %d\n)\n", pkg.Name(), helpers, s.name(), max(1, len(s.mutants)))
	return s, nil
}

// name returns the name of the package on the command line.
func (s *suite) name() string { return filepath.Base(s.dir) }

// rewritten returns the source with all edits made.
func (f *finder) rewritten() []byte {
	var b bytes.Buffer
	at := 0
	for _, e := range f.edits {
		b.Write(f.src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.Write(f.src[at:])
	return b.Bytes()
}

// build compiles the tests of a package with all mutants of the suite in it, and returns
// the path of the binary.
func (s *suite) build(tmp, dir string) (string, error) {
	replace := map[string]string{}
	for path, text := range s.sources {
		to := filepath.Join(tmp, s.name()+"_"+filepath.Base(path))
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", err
		}
		replace[path] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(tmp, s.name()+".json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return "", err
	}
	binary := filepath.Join(tmp, s.name()+"_"+filepath.Base(dir)+".test")
	_, err = command(s.root, "go", "test", "-c", "-vet", "off", "-overlay", file, "-o", binary, "./"+dir)
	return binary, err
}

// command runs a command in a folder and returns its output.
func command(dir string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
