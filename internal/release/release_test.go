package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func stamped(settings ...string) *buildinfo.BuildInfo {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.com/x", Version: "v1.2.3"}}
	for i := 0; i < len(settings); i += 2 {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
	}
	return info
}

// A release has a commit, and nothing that the commit does not have.
func TestStamp(t *testing.T) {
	const at = "2026-02-03T04:05:06Z"
	whole := stamped("vcs.revision", "abc", "vcs.time", at, "vcs.modified", "false")
	s, err := stampOf(whole, false)
	if err != nil || s.version != "v1.2.3" || s.commit != "abc" || s.at.Format(time.RFC3339) != at {
		t.Errorf("stamp %+v, %v", s, err)
	}
	changed := stamped("vcs.revision", "abc", "vcs.time", at, "vcs.modified", "true")
	if _, err := stampOf(changed, false); err == nil {
		t.Error("a changed working tree is released")
	}
	if _, err := stampOf(changed, true); err != nil {
		t.Error(err)
	}
	if _, err := stampOf(stamped(), true); err == nil {
		t.Error("a binary without a commit is released")
	}
	if _, err := stampOf(stamped("vcs.revision", "abc"), false); err == nil {
		t.Error("a commit without a time is released")
	}
}

// The same files give the same archive, in whatever order, and it can be read again.
func TestPack(t *testing.T) {
	files := []file{{"stile", 0o755, []byte("binary")}, {"LICENSE", 0o644, []byte("terms")}, {"systemd/stile.service", 0o644, nil}}
	at := time.Unix(1_700_000_000, 0)
	one, err := pack("stile-1", files, at)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	two, err := pack("stile-1", files, at)
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("two archives of the same files differ: %v", err)
	}
	if other, _ := pack("stile-1", files, at.Add(time.Second)); bytes.Equal(one, other) {
		t.Error("the time makes no difference")
	}
	z, err := gzip.NewReader(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(at) || h.Mode != 0o644 && h.Name != "stile-1/stile" {
			t.Errorf("%s: %+v", h.Name, h)
		}
	}
	if want := []string{"stile-1/LICENSE", "stile-1/stile", "stile-1/systemd/stile.service"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

// A bill lists the binary, its modules, the standard library and what is embedded, each
// under a reference of its own.
func TestBill(t *testing.T) {
	t.Chdir("../..")
	embedded, err := bundled()
	if err != nil {
		t.Fatal(err)
	}
	info := stamped()
	info.Deps = []*debug.Module{{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"}, {Path: "example.com/b", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v3.0.0", Sum: "h1:c"}}}
	text, err := billOf("stile-1", info, stamp{"v1.2.3", "abc", time.Unix(0, 0)}, embedded)
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, c := range append(b.Components, b.Metadata.Component) {
		refs = append(refs, c.Ref)
	}
	for _, want := range []string{"pkg:golang/example.com/x@v1.2.3", "pkg:golang/example.com/a@v1.0.0", "pkg:golang/example.com/c@v3.0.0", "pkg:golang/std@go1.26.8", "pkg:npm/preact@"} {
		if !slices.ContainsFunc(refs, func(r string) bool { return strings.HasPrefix(r, want) }) {
			t.Errorf("%s is missing in %q", want, refs)
		}
	}
	slices.Sort(refs)
	if n := len(slices.Compact(refs)); n != len(b.Components)+1 || len(b.Depends) != 1 || len(b.Depends[0].On) != len(b.Components) {
		t.Errorf("%d references of %d components, dependencies %v", n, len(b.Components)+1, b.Depends)
	}
}

// Only what an earlier release has left is removed.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	touch := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch("SHA256SUMS")
	touch("stile-1-linux-amd64.tar.gz")
	if err := prepare(dir); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 0 {
		t.Errorf("left: %v, %v", all, err)
	}
	touch("thesis.txt")
	if err := prepare(dir); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("a folder with other files: %v", err)
	}
}
