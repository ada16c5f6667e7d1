package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stile-lock/stile/internal/live/node/disk"
	"github.com/stile-lock/stile/internal/live/views"
)

// A folder is where a node keeps what must outlive it: the view log of its voter, and the
// cluster it belonged to with the last known addresses of the members. A node whose folder
// has this never founds or joins another cluster by mistake.
type folder struct {
	dir     string
	store   *disk.Store
	cluster uint64 // 0 if unknown
	known   []string
}

func (f *folder) path() string { return filepath.Join(f.dir, "members") }

// contacts reads the last known addresses of the members.
func (f *folder) contacts() ([]string, error) {
	b, err := os.ReadFile(f.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the addresses of the other members: %w", err)
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	_, err = fmt.Sscanf(first, "cluster %x", &f.cluster)
	f.known = strings.Fields(rest)
	if err != nil || f.cluster == 0 || heading(f.cluster) != first+"\n" || len(f.known) == 0 || !strings.HasSuffix(rest, "\n") {
		return nil, fmt.Errorf("%s is damaged: it does not name a cluster and its members: move directory %s away, and give a node to join; without one, this node founds a new cluster", f.path(), f.dir)
	}
	return slices.Clone(f.known), nil
}

// keep writes the addresses of the members, if they have changed.
func (f *folder) keep(r *views.Record) error {
	var all []string
	for _, m := range r.Members {
		all = append(all, m.Address)
	}
	slices.Sort(all)
	if slices.Equal(all, f.known) && f.cluster == r.Cluster {
		return nil
	}
	if err := f.replace(f.path(), heading(r.Cluster)+strings.Join(all, "\n")+"\n"); err != nil {
		return err
	}
	f.known, f.cluster = all, r.Cluster
	return nil
}

// replace writes a file in place of another one, durably.
func (f *folder) replace(path, text string) error {
	tmp := path + ".new"
	if err := write(tmp, text); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return disk.SyncFolder(f.dir)
}

func (f *folder) pastPath() string { return filepath.Join(f.dir, "past") }

// past reads what the last process remembers. It may be nothing.
func (f *folder) past() ([]byte, error) {
	b, err := os.ReadFile(f.pastPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		_, err = views.ParsePast(b)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w: remove this file; it only says whether the node was stopped cleanly, and in which epoch", f.pastPath(), err)
	}
	return b, nil
}

// remember writes what the process remembers.
func (f *folder) remember(b []byte) error { return f.replace(f.pastPath(), string(b)) }

// heading is the first line of the file.
func heading(cluster uint64) string { return fmt.Sprintf("cluster %016x\n", cluster) }

// write writes a file, which is durable when it returns.
func write(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Sync(), file.Close())
}

func (f *folder) close() { _ = f.store.Close() }
