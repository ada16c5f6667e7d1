package controls

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Variable is the environment variable that selects controls, separated by commas.
const Variable = "STILE_CONTROL"

// extra is the file that the overlay adds to each rewritten package.
const extra = "broken_overlay.go"

const extraText = `package %s

import (
	"os"
	"slices"
	"strings"
)

var brokenRules = strings.Split(os.Getenv(%q), ",")

// broken reports whether a negative control is selected.
func broken(name string) bool { return slices.Contains(brokenRules, name) }
`

// Overlay applies the rewrites of all controls to copies of the files of the module at
// root, and writes them to dir. It returns the file for the flag -overlay of the go
// command.
func Overlay(root, dir string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	write := func(file, text string) error {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		replace[filepath.Join(root, file)] = to
		return os.WriteFile(to, []byte(text), 0o666)
	}
	for file, all := range byFile(Table()) {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", fmt.Errorf("control %s: %w", all[0].control, err)
		}
		text, err := apply(string(b), all)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if err := write(file, text); err != nil {
			return "", err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		if err := write(path.Join(path.Dir(file), extra), fmt.Sprintf(extraText, f.Name.Name, Variable)); err != nil {
			return "", err
		}
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, b, 0o666)
}

// An edit is a rewrite that belongs to a control.
type edit struct {
	Rewrite
	control string
	at      int // offset of Old
}

// byFile returns the rewrites of some controls, by file.
func byFile(all []Control) map[string][]edit {
	files := map[string][]edit{}
	for _, c := range all {
		for _, r := range c.Rewrites {
			files[r.File] = append(files[r.File], edit{Rewrite: r, control: c.Name})
		}
	}
	return files
}

// apply returns a text with all edits made.
func apply(text string, all []edit) (string, error) {
	for i := range all {
		e := &all[i]
		if n := strings.Count(text, e.Old); n != 1 {
			return "", fmt.Errorf("control %s: the text to replace occurs %d times, want once: adapt the rewrite to the source:\n%s", e.control, n, e.Old)
		}
		e.at = strings.Index(text, e.Old)
	}
	slices.SortFunc(all, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	end, last := 0, ""
	for _, e := range all {
		if e.at < end {
			return "", fmt.Errorf("controls %s and %s: their rewrites overlap: make them smaller, or one of them part of the other's New:\n%s", last, e.control, e.Old)
		}
		b.WriteString(text[end:e.at])
		b.WriteString(e.New)
		end, last = e.at+len(e.Old), e.control
	}
	b.WriteString(text[end:])
	return b.String(), nil
}
