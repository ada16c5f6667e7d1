package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A file is a file of an archive.
type file struct {
	name  string
	mode  int64
	bytes []byte
}

// contents returns the files of an archive.
func contents(t target, binary []byte, info *buildinfo.BuildInfo) ([]file, error) {
	all := []file{{"stile", 0o755, binary}}
	names := []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"}
	if t.os == "linux" {
		units, err := filepath.Glob("packaging/systemd/*")
		if err != nil {
			return nil, err
		}
		names = append(names, units...)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{strings.TrimPrefix(filepath.ToSlash(name), "packaging/"), 0o644, b})
	}
	b, err := licences(info)
	return append(all, file{"THIRD-PARTY.txt", 0o644, b}), err
}

// licences returns the licences of everything that is linked into a binary.
func licences(info *buildinfo.BuildInfo) ([]byte, error) {
	var w bytes.Buffer
	add := func(what, dir string) error {
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			return err
		}
		n := w.Len()
		for _, p := range paths {
			if !licence.MatchString(filepath.Base(p)) {
				continue
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&w, "%s: %s\n\n%s\n\n", what, filepath.Base(p), bytes.TrimSpace(b))
		}
		if w.Len() == n {
			return fmt.Errorf("%s has no licence in %s", what, dir)
		}
		return nil
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := add("The Go standard library, "+info.GoVersion, root); err != nil {
		return nil, err
	}
	for _, d := range info.Deps {
		text, err := output("go", "list", "-m", "-json", d.Path)
		if err != nil {
			return nil, err
		}
		var m struct{ Dir string }
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, err
		}
		if err := add(d.Path+" "+d.Version, m.Dir); err != nil {
			return nil, err
		}
	}
	page, err := os.ReadFile("lab/web/dist/licences.txt")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&w, "The page of the lab:\n\n%s\n", bytes.TrimSpace(page))
	return w.Bytes(), nil
}

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)(\.\w+)?$`)

// output runs a command and returns what it prints.
func output(name string, args ...string) (string, error) {
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(b)), nil
}

// pack returns a tar.gz with the files in one folder. The same files give the same bytes.
func pack(folder string, files []file, at time.Time) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var w bytes.Buffer
	z, err := gzip.NewWriterLevel(&w, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.bytes)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.bytes); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}
