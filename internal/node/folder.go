package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/engine"
	"github.com/stile-lock/stile/internal/node/disk"
)

// A folder is where a node keeps what must outlive it: the view log of its voter,
// and where the other members were when it last knew. A node whose folder has that
// never founds another cluster by mistake.
type folder struct {
	dir   string
	store *disk.Store
	known []string
}

func (f *folder) path() string { return filepath.Join(f.dir, "members") }

// contacts returns where the others were.
func (f *folder) contacts() ([]string, error) {
	b, err := os.ReadFile(f.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read where the other members are: %w", err)
	}
	f.known = strings.Fields(string(b))
	if len(f.known) == 0 {
		return nil, fmt.Errorf("%s names no member: it is damaged; if this node is to found a cluster of its own, remove the folder, else name a node to join", f.path())
	}
	return slices.Clone(f.known), nil
}

// keep writes where the members are, if that has changed.
func (f *folder) keep(r *engine.Record) error {
	var all []string
	for _, m := range r.Members {
		all = append(all, m.Address)
	}
	slices.Sort(all)
	if slices.Equal(all, f.known) {
		return nil
	}
	tmp := f.path() + ".new"
	if err := os.WriteFile(tmp, []byte(strings.Join(all, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.Rename(tmp, f.path()); err != nil {
		return err
	}
	f.known = all
	return nil
}

func (f *folder) close() { _ = f.store.Close() }
