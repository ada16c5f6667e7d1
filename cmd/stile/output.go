package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// An output is a file to be written when a command has succeeded.
type output struct {
	flag string // the flag that asked for it
	path string
	make func() ([]byte, error)
}

// check reports early what would keep o from being written.
func (o output) check() error {
	if info, err := os.Stat(o.path); err == nil && info.IsDir() {
		return fmt.Errorf("--%s %q is a directory: give the name of a file", o.flag, o.path)
	}
	dir := filepath.Dir(o.path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("--%s %q: there is no directory %q: make it first", o.flag, o.path, dir)
	}
	return nil
}

// checkAll reports what would keep any of them from being written.
func checkAll(outputs []output) error {
	seen := map[string]bool{}
	for _, o := range outputs {
		if err := o.check(); err != nil {
			return err
		}
		if seen[filepath.Clean(o.path)] {
			return fmt.Errorf("--%s %q: two outputs cannot go to one file: give each its own", o.flag, o.path)
		}
		seen[filepath.Clean(o.path)] = true
	}
	return nil
}

// writeAll writes all outputs or none: each goes to a file beside its place,
// and they are moved there when the last is complete.
func writeAll(outputs []output) error {
	type move struct{ from, to string }
	var moves []move
	fail := func(o output, err error) error {
		for _, m := range moves {
			os.Remove(m.from)
		}
		return fmt.Errorf("--%s %q: cannot write it: %w", o.flag, o.path, reason(err))
	}
	for _, o := range outputs {
		data, err := o.make()
		if err != nil {
			return fail(o, err)
		}
		to := o.path
		if real, err := filepath.EvalSymlinks(to); err == nil {
			to = real
		}
		mode := os.FileMode(0o666)
		if info, err := os.Stat(to); err == nil {
			mode = info.Mode()
		}
		if !mode.IsRegular() { // a terminal, a pipe: nothing to move
			if err := os.WriteFile(to, data, 0); err != nil {
				return fail(o, err)
			}
			continue
		}
		from := fmt.Sprintf("%s.%d.tmp", to, os.Getpid())
		moves = append(moves, move{from, to})
		if err := os.WriteFile(from, data, mode.Perm()); err != nil {
			return fail(o, err)
		}
	}
	for i, m := range moves {
		if err := os.Rename(m.from, m.to); err != nil {
			return fail(outputs[min(i, len(outputs)-1)], err)
		}
	}
	return nil
}

// reason leaves out the name of the file beside, which nobody asked for.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// writeJSON writes v as people can read it too.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
