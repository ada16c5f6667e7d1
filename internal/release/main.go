package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A target is a system that there is a binary for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "-" + t.arch }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func main() {
	out := flag.String("out", "dist", "`folder` to write to")
	dirty := flag.Bool("dirty", false, "allow a working tree with changes, to try things out")
	flag.Parse()
	if err := release(*out, *dirty); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release builds everything into a folder, which it replaces.
func release(out string, dirty bool) error {
	if err := prepare(out); err != nil {
		return err
	}
	var sums []string
	write := func(name string, b []byte) error {
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(b), name))
		return os.WriteFile(filepath.Join(out, name), b, 0o644)
	}
	for _, t := range targets {
		binary, info, err := build(t)
		if err != nil {
			return err
		}
		s, err := stampOf(info, dirty)
		if err != nil {
			return err
		}
		name := "stile-" + strings.TrimPrefix(s.version, "v") + "-" + t.String()
		files, err := contents(t, binary, info)
		if err != nil {
			return err
		}
		archive, err := pack(name, files, s.at)
		if err != nil {
			return err
		}
		embedded, err := bundled()
		if err != nil {
			return err
		}
		bill, err := billOf(name, info, s, embedded)
		if err != nil {
			return err
		}
		if err := write(name+".tar.gz", archive); err != nil {
			return err
		}
		if err := write(name+".cdx.json", bill); err != nil {
			return err
		}
		fmt.Printf("%s  %d bytes, commit %.12s, %s\n", name, len(archive), s.commit, info.GoVersion)
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// prepare makes an empty folder. It removes only what an earlier release has left.
func prepare(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	all, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, e := range all {
		name := e.Name()
		ours := name == "SHA256SUMS" || strings.HasPrefix(name, "stile-") && (strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".cdx.json"))
		if !ours {
			return fmt.Errorf("%s is not a file of a release: give a new folder with -out", filepath.Join(out, name))
		}
		if err := os.Remove(filepath.Join(out, name)); err != nil {
			return err
		}
	}
	return nil
}

// build builds the binary for a target, and returns it with what Go has stamped into it.
func build(t target) ([]byte, *buildinfo.BuildInfo, error) {
	dir, err := os.MkdirTemp("", "stile-release-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "stile")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", path, "./cmd/stile")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	if b, err := c.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("build for %v: %w\n%s", t, err, b)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	b, err := os.ReadFile(path)
	return b, info, err
}

// A stamp says which source a binary was built from.
type stamp struct {
	version, commit string
	at              time.Time // of the commit
}

// stampOf reads the stamp of a binary. A release needs a commit.
func stampOf(info *buildinfo.BuildInfo, dirty bool) (s stamp, err error) {
	set := map[string]string{}
	for _, x := range info.Settings {
		set[x.Key] = x.Value
	}
	s = stamp{version: info.Main.Version, commit: set["vcs.revision"]}
	switch {
	case s.commit == "":
		return s, fmt.Errorf("the binary has no commit: build with git, in a clone of the repository and not in a worktree")
	case set["vcs.modified"] == "true" && !dirty:
		return s, fmt.Errorf("the working tree has changes: commit them first, or give -dirty to try things out")
	}
	s.at, err = time.Parse(time.RFC3339, set["vcs.time"])
	return s, err
}
