package tell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A File is to be written when a command has run.
type File struct {
	Flag string // the flag that asked for it
	Path string
	Make func() ([]byte, error) // nil bytes: there is nothing to be written after all
}

// check reports early what would keep f from being written.
func (f File) check() error {
	info, err := os.Stat(f.Path)
	if err == nil && info.IsDir() {
		return fmt.Errorf("--%s %q is a directory: give the name of a file", f.Flag, f.Path)
	}
	dir := filepath.Dir(f.Path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("--%s %q: there is no directory %q: make it first", f.Flag, f.Path, dir)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil // a terminal, a pipe: only writing shows
	}
	beside, _ := f.beside()
	try, err := os.OpenFile(beside, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return f.fails(err)
	}
	try.Close()
	return os.Remove(beside)
}

// beside returns where f is written first, and where it goes from there.
func (f File) beside() (from, to string) {
	to = f.Path
	if real, err := filepath.EvalSymlinks(to); err == nil {
		to = real
	}
	return fmt.Sprintf("%s.%d.tmp", to, os.Getpid()), to
}

// fails says why f cannot be written.
func (f File) fails(err error) error {
	return fmt.Errorf("--%s %q: cannot write it: %w", f.Flag, f.Path, Reason(err))
}

// checkAll reports what would keep any of them from being written.
func checkAll(files []File) error {
	seen := map[string]bool{}
	for _, f := range files {
		if err := f.check(); err != nil {
			return err
		}
		if seen[filepath.Clean(f.Path)] {
			return fmt.Errorf("--%s %q: two outputs cannot go to one file: give each its own", f.Flag, f.Path)
		}
		seen[filepath.Clean(f.Path)] = true
	}
	return nil
}

// writeAll writes all files or none: each is written beside its place, and they
// are moved there when the last is complete.
func writeAll(files []File) error {
	type move struct {
		File
		from, to string
	}
	var moves []move
	fail := func(f File, err error) error {
		for _, m := range moves {
			os.Remove(m.from)
		}
		return f.fails(err)
	}
	for _, f := range files {
		data, err := f.Make()
		if err != nil {
			return fail(f, err)
		}
		if data == nil {
			continue
		}
		from, to := f.beside()
		mode := os.FileMode(0o666)
		if info, err := os.Stat(to); err == nil {
			mode = info.Mode()
		}
		if !mode.IsRegular() { // a terminal, a pipe: nothing to move
			if err := os.WriteFile(to, data, 0); err != nil {
				return fail(f, err)
			}
			continue
		}
		moves = append(moves, move{f, from, to})
		if err := os.WriteFile(from, data, mode.Perm()); err != nil {
			return fail(f, err)
		}
	}
	for _, m := range moves {
		if err := os.Rename(m.from, m.to); err != nil {
			return fail(m.File, err)
		}
	}
	return nil
}

// Reason says why a file could not be read or written. It leaves out the name,
// which may be that of the file beside, which nobody asked for.
func Reason(err error) error {
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
