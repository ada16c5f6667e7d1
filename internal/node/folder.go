package node

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stile-lock/stile/internal/node/disk"
	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A folder is where a node keeps what must outlive it: the view log of its voter, and the
// record of the last view that it was a member of. A node whose folder has one of these
// never founds or joins another cluster by mistake.
type folder struct {
	dir      string
	store    *disk.Store
	group    uint64    // cluster of the voter; 0 if there is none
	voter    uint64    // its number
	last     *Backup   // with the last view; nil if it was never a member
	past     []byte    // what the last process remembers; empty if there is nothing
	recovers *recovery // how to begin the cluster; nil if there is nothing to recover
}

// The names of its files, besides the voter's.
const (
	recordFile  = "record"
	pastFile    = "past"
	recoverFile = "recover"
)

// openFolder opens the folder of a node for this process.
func openFolder(dir string) (*folder, error) {
	s, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, store: s}
	if err := f.load(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// load reads what is in the folder, and completes a recovery that was interrupted.
func (f *folder) load() error {
	state, err := raft.Read(f.store)
	if err == nil {
		f.group, f.voter, err = logKind.Voter(state)
	}
	if err != nil {
		return err
	}
	if err := f.read(recordFile, func(text string) (err error) {
		f.last, err = ParseBackup(text)
		return err
	}); err != nil {
		return err
	}
	if err := f.read(pastFile, f.recall); err != nil {
		return err
	}
	if err := f.read(recoverFile, func(text string) (err error) {
		f.recovers, err = parseRecovery(text)
		return err
	}); err != nil || f.recovers == nil {
		return err
	}
	if f.group == f.recovers.Cluster || f.last != nil && f.last.Record.Cluster == f.recovers.Cluster {
		return f.recovered()
	}
	_, err = f.setAside()
	return err
}

// recall reads what the last process remembers.
func (f *folder) recall(text string) error {
	x, err := views.ParsePast([]byte(text))
	if err != nil {
		return err
	}
	f.past = []byte(text)
	if f.last != nil && f.last.Record.Cluster == x.Cluster {
		f.last.Seen = max(f.last.Seen, x.Epoch)
	}
	return nil
}

// read passes the text of a file to a parser, if there is one.
func (f *folder) read(name string, parse func(text string) error) error {
	path := filepath.Join(f.dir, name)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the data directory: %w", err)
	}
	if err := parse(string(b)); err != nil {
		return fmt.Errorf("%s is damaged: %w: move directory %s away, and give a node to join; without one, this node founds a new cluster", path, err, f.dir)
	}
	return nil
}

// cluster returns the cluster that the folder belongs to; 0 if there is none.
func (f *folder) cluster() uint64 {
	switch {
	case f.recovers != nil:
		return f.recovers.Cluster
	case f.last != nil:
		return cmp.Or(f.group, f.last.Record.Cluster)
	}
	return f.group
}

// known returns the last known addresses of the members.
func (f *folder) known() []string {
	if f.last == nil {
		return nil
	}
	return addresses(&f.last.Record)
}

// addresses returns the addresses of the members.
func addresses(r *views.Record) (all []string) {
	for _, m := range r.Members {
		all = append(all, m.Address)
	}
	return all
}

// owner returns the node that last used the voter in this folder, as far as is known.
func (f *folder) owner() views.Voter {
	if f.last != nil {
		for _, v := range f.last.Record.Voters {
			if v.ID == f.voter {
				return v
			}
		}
	}
	return views.Voter{}
}

// keep writes the record of a view.
func (f *folder) keep(r *views.Record) error {
	now := &Backup{Record: *r, Seen: r.Epoch}
	if f.last != nil {
		if now.Seen = max(now.Seen, f.last.Seen); now.Text() == f.last.Text() {
			return nil
		}
	}
	if err := f.write(recordFile, now.Text()); err != nil {
		return err
	}
	if f.last = now; f.recovers != nil {
		return f.recovered()
	}
	return nil
}

// recovered notes that the cluster has begun.
func (f *folder) recovered() error {
	f.recovers = nil
	if err := os.Remove(filepath.Join(f.dir, recoverFile)); err != nil {
		return err
	}
	return disk.SyncFolder(f.dir)
}

// setAside renames the files of the lost cluster, and returns their new names.
func (f *folder) setAside() (all []string, err error) {
	suffix := fmt.Sprintf(".before-%016x", f.recovers.Cluster)
	if f.group != 0 {
		if err := f.store.SetAside(suffix); err != nil {
			return nil, err
		}
		all = append(all, f.store.Path()+suffix)
	}
	if f.last != nil {
		path := filepath.Join(f.dir, recordFile)
		if err := disk.Rename(path, path+suffix); err != nil {
			return nil, err
		}
		all = append(all, path+suffix)
	}
	if len(f.past) > 0 {
		path := filepath.Join(f.dir, pastFile)
		if err := disk.Rename(path, path+suffix); err != nil {
			return nil, err
		}
		all = append(all, path+suffix)
	}
	f.group, f.voter, f.last, f.past = 0, 0, nil, nil
	return all, nil
}

// remember writes what the process must know when it starts again.
func (f *folder) remember(b []byte) error { return f.write(pastFile, string(b)) }

// write replaces a file: it has either the old text or the new one, even after a crash.
func (f *folder) write(name, text string) error {
	path := filepath.Join(f.dir, name)
	tmp := path + ".new"
	file, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return disk.SyncFolder(f.dir)
}

func (f *folder) close() { _ = f.store.Close() }
