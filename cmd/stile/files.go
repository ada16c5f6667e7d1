package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An outputFile is written when a command has run.
type outputFile struct {
	flag    string // the flag that names it
	path    string
	content func() ([]byte, error) // nil bytes: there is nothing to write after all
	note    *string                // printed when the file has been written; nil for nothing
}

// check reports early that f cannot be written.
func (f outputFile) check() error {
	info, err := os.Stat(f.path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("--%s %q is a directory: give a file name", f.flag, f.path)
	case err == nil && !info.Mode().IsRegular(): // a pipe, which may open only when there is a reader
		return nil
	case err == nil:
		if err := f.open(f.path, os.O_WRONLY); err != nil {
			return err
		}
	}
	dir := filepath.Dir(f.path)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return fmt.Errorf("--%s %q: no directory %q: create it first", f.flag, f.path, dir)
	}
	beside := f.beside()
	defer os.Remove(beside)
	return f.open(beside, os.O_WRONLY|os.O_CREATE)
}

// checkNewFile reports early that a new file cannot be written. Existing files are
// never overwritten.
func checkNewFile(flag, path string) error {
	f := outputFile{flag: flag, path: path}
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("--%s %q: the file exists: move it away, or give another name", flag, path)
	}
	return f.check()
}

// open tries to open a file and leaves its content unchanged.
func (f outputFile) open(path string, how int) error {
	file, err := os.OpenFile(path, how, 0o666)
	if err != nil {
		return f.fail(err)
	}
	return file.Close()
}

func (f outputFile) fail(err error) error {
	return fmt.Errorf("--%s %q: cannot write the file: %w: give another name", f.flag, f.path, fileReason(err))
}

// place is the path of f with all links resolved.
func (f outputFile) place() string {
	path, err := filepath.Abs(f.path)
	if err != nil {
		return f.path
	}
	if place, err := filepath.EvalSymlinks(path); err == nil {
		return place
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// beside is the path where f is written before it is moved to its place.
func (f outputFile) beside() string { return fmt.Sprintf("%s.%d.tmp", f.place(), os.Getpid()) }

// checkFiles reports early that one of the files cannot be written.
func checkFiles(files []outputFile) error {
	seen := map[string]bool{}
	for _, f := range files {
		if err := f.check(); err != nil {
			return err
		}
		if seen[f.place()] {
			return fmt.Errorf("--%s %q: two outputs cannot go to one file: give each its own", f.flag, f.path)
		}
		seen[f.place()] = true
	}
	return nil
}

// writeFiles writes all files or none: each is written beside its place, and all are
// moved there when the last one is complete.
func writeFiles(files []outputFile) error {
	type move struct {
		outputFile
		from, to string
	}
	var moves []move
	fail := func(f outputFile, err error) error {
		for _, m := range moves {
			os.Remove(m.from)
		}
		return f.fail(err)
	}
	for _, f := range files {
		data, err := f.content()
		if err != nil {
			return fail(f, err)
		}
		if data == nil {
			continue
		}
		to := f.place()
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
		from := f.beside()
		moves = append(moves, move{f, from, to})
		if err := os.WriteFile(from, data, mode.Perm()); err != nil {
			return fail(f, err)
		}
	}
	for _, m := range moves {
		if err := os.Rename(m.from, m.to); err != nil {
			return fail(m.outputFile, err)
		}
	}
	return nil
}

// fileReason returns why a file could not be read or written, without its path, which
// may be that of a temporary file.
func fileReason(err error) error {
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
