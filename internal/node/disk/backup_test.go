//go:build unix

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/engine/raft"
)

// A backup is what was kept, and any change of it is found.
func TestBackup(t *testing.T) {
	dir, _ := memoryFolder(t)
	s := open(t, dir)
	var b strings.Builder
	if err := s.Backup(&b); err == nil {
		t.Error("a backup of nothing")
	}
	w := newWriter(4)
	for range 30 {
		if err := s.Save(w.next()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Backup(&b); err != nil {
		t.Fatal(err)
	}
	want := w.state()
	if err := s.Save(w.next()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "backup")
	try := func(b []byte) (raft.State, error) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadBackup(path)
	}
	if got, err := try([]byte(b.String())); err != nil || !same(got, want) {
		t.Fatalf("%v: %+v", err, got)
	}
	for size := 0; size < b.Len(); size += 1 + size/20 {
		if _, err := try([]byte(b.String()[:size])); !errors.Is(err, ErrBackup) {
			t.Errorf("%d bytes of a backup: %v", size, err)
		}
		flipped := []byte(b.String())
		flipped[size] ^= 4
		if _, err := try(flipped); !errors.Is(err, ErrBackup) {
			t.Errorf("byte %d has turned: %v", size, err)
		}
	}
	newer := []byte(backupHead + "\x02what is to come")
	_, sum := seal(backupHead, newer)
	for i := range sumSize {
		newer = append(newer, byte(sum>>(56-8*i)))
	}
	if _, err := try(newer); err == nil || !strings.Contains(err.Error(), "of format 2") {
		t.Errorf("a newer backup: %v", err)
	}
}
