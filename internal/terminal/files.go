package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An OutputFile is written when a command has run.
type OutputFile struct {
	Flag    string // the flag that names it
	Path    string
	Content func() ([]byte, error) // nil bytes: there is nothing to write after all
	Note    *string                // printed when the file has been written; nil for nothing
}

// check reports early that f cannot be written.
func (f OutputFile) check() error {
	info, err := os.Stat(f.Path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("--%s %q is a directory: give a file name", f.Flag, f.Path)
	case err == nil && !info.Mode().IsRegular(): // a pipe, which may open only when there is a reader
		return nil
	case err == nil:
		if err := f.open(f.Path, os.O_WRONLY); err != nil {
			return err
		}
	}
	dir := filepath.Dir(f.Path)
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return fmt.Errorf("--%s %q: no directory %q: create it first", f.Flag, f.Path, dir)
	}
	beside := f.beside()
	defer os.Remove(beside)
	return f.open(beside, os.O_WRONLY|os.O_CREATE)
}

// CheckNewFile reports early that a new file cannot be written. Existing files are
// never overwritten.
func CheckNewFile(flag, path string) error {
	f := OutputFile{Flag: flag, Path: path}
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("--%s %q: the file exists: move it away, or give another name", flag, path)
	}
	return f.check()
}

// open tries to open a file and leaves its content unchanged.
func (f OutputFile) open(path string, how int) error {
	file, err := os.OpenFile(path, how, 0o666)
	if err != nil {
		return f.fail(err)
	}
	return file.Close()
}

func (f OutputFile) fail(err error) error {
	return fmt.Errorf("--%s %q: cannot write the file: %w: give another name", f.Flag, f.Path, FileReason(err))
}

// place is the path of f with all links resolved.
func (f OutputFile) place() string {
	path, err := filepath.Abs(f.Path)
	if err != nil {
		return f.Path
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
func (f OutputFile) beside() string { return fmt.Sprintf("%s.%d.tmp", f.place(), os.Getpid()) }

// checkFiles reports early that one of the files cannot be written.
func checkFiles(files []OutputFile) error {
	seen := map[string]bool{}
	for _, f := range files {
		if err := f.check(); err != nil {
			return err
		}
		if seen[f.place()] {
			return fmt.Errorf("--%s %q: two outputs cannot go to one file: give each its own", f.Flag, f.Path)
		}
		seen[f.place()] = true
	}
	return nil
}

// writeFiles writes all files or none: each is written beside its place, and all are
// moved there when the last one is complete.
func writeFiles(files []OutputFile) error {
	type move struct {
		OutputFile
		from, to string
	}
	var moves []move
	fail := func(f OutputFile, err error) error {
		for _, m := range moves {
			os.Remove(m.from)
		}
		return f.fail(err)
	}
	for _, f := range files {
		data, err := f.Content()
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
			return fail(m.OutputFile, err)
		}
	}
	return nil
}

// FileReason returns why a file could not be read or written, without its path, which
// may be that of a temporary file.
func FileReason(err error) error {
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

// PictureFile returns the file that a flag names, or none if it is not given.
func PictureFile(flag, path string, draw func() string) []OutputFile {
	if path == "" {
		return nil
	}
	return []OutputFile{{Flag: flag, Path: path, Content: func() ([]byte, error) { return []byte(draw()), nil }}}
}
