package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/stile-lock/stile/internal/views"
	"github.com/stile-lock/stile/internal/views/raft"
)

// A Recovery is what Recover has done, and what may be lost.
type Recovery struct {
	Data      string       `json:"data"`
	Cluster   string       `json:"cluster"`      // the new cluster
	Lost      string       `json:"lost_cluster"` // empty if it is not known
	Seen      uint64       `json:"epoch_seen"`   // highest epoch that was found or given
	First     uint64       `json:"first_epoch"`  // the new cluster begins here
	Lease     float64      `json:"lease_s"`      // 0 if it is not known
	Voters    int          `json:"voters"`       // wanted number; 0 if it is not known
	Algorithm string       `json:"algorithm"`    // empty if it is not known
	Members   []MemberInfo `json:"members"`      // of the lost cluster: the next view counts them as ghosts
	Forgotten []string     `json:"forgotten"`    // voters of the lost cluster whose directories are refused from now on
	Kept      []string     `json:"kept"`         // files of the lost cluster
}

// Recover makes the node of a data directory begin a cluster of its own when it is started
// next, as its only member: from what the directory has of a lost cluster, from a backup, or,
// if both are missing, from nothing but an epoch. The new cluster has a number of its own, so
// that nodes of the lost one are refused wherever they meet it, and begins above all epochs
// that were seen. The files of the lost cluster stay, under other names.
func Recover(dir string, from *Backup, seen uint64) (*Recovery, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && from == nil && seen == 0 {
		return nil, fmt.Errorf("there is no directory %s: give the one of a lost node, a backup, or an epoch", dir)
	}
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	has, err := f.backup()
	switch {
	case err != nil:
		return nil, err
	case f.recovers != nil:
		return nil, fmt.Errorf("%s was recovered before, as cluster %s: start its node with 'stile serve'", dir, clusterID(f.recovers.Cluster))
	case has != nil && from != nil:
		return nil, fmt.Errorf("%s has the state of cluster %s: recover that without a backup, or give a new directory for the backup", dir, clusterID(has.Record.Cluster))
	case has == nil && from == nil && seen == 0:
		return nil, fmt.Errorf("%s has no state of a cluster: give a backup, or an epoch", dir)
	case has == nil:
		has = from
	}
	if has != nil {
		seen = max(seen, has.Seen)
	}
	x := &recovery{views.Restore{Cluster: random(), Seen: seen, Clock: uint64(time.Now().UnixMilli())}, has}
	if _, err := views.Restored(x.record(), x.Restore, views.Joiner{}); err != nil {
		return nil, err
	}
	return f.begin(x)
}

// begin prepares a recovery. From the moment that its file has its name, the next start
// completes what is missing.
func (f *folder) begin(x *recovery) (*Recovery, error) {
	r := x.record()
	all := &Recovery{Data: f.dir, Cluster: clusterID(x.Cluster), Seen: x.Seen, First: x.First(r), Lease: seconds(time.Duration(r.Settings.Lease)), Voters: r.Wanted, Algorithm: chosen(r), Members: []MemberInfo{}, Forgotten: []string{}, Kept: []string{}}
	if r.Cluster != 0 {
		all.Lost = clusterID(r.Cluster)
	}
	for _, m := range r.Members {
		all.Members = append(all.Members, MemberInfo{Name: m.Name, Address: m.Address, Voter: votes(r, m.Voter), Incarnation: m.Inc})
	}
	for _, v := range r.Voters {
		if !v.Leaves && v.ID != f.voter {
			all.Forgotten = append(all.Forgotten, v.Name)
		}
	}
	err := f.write(recoverFile, x.text())
	if err == nil {
		f.recovers = x
		var kept []string
		kept, err = f.setAside()
		all.Kept = append(all.Kept, kept...)
	}
	if err != nil {
		return nil, fmt.Errorf("recover %s: %w", f.dir, err)
	}
	return all, nil
}

// ReadBackup returns a backup of what is in the data directory of a node that does not run.
func ReadBackup(dir string) (*Backup, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("read the data directory: %w", err)
	}
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	b, err := f.backup()
	switch {
	case err != nil:
		return nil, err
	case f.recovers != nil:
		return nil, fmt.Errorf("%s was recovered as cluster %s: start its node with 'stile serve' first", dir, clusterID(f.recovers.Cluster))
	case b == nil:
		return nil, fmt.Errorf("%s has no state of a cluster: give the directory of a node that was a member", dir)
	}
	return b, nil
}

// backup returns what the folder knows of its cluster; nil if nothing.
func (f *folder) backup() (*Backup, error) {
	logged, err := f.logged()
	switch {
	case err != nil:
		return nil, err
	case logged == nil:
		return f.last, nil
	case f.last == nil:
		return logged, nil
	}
	seen := max(logged.Seen, f.last.Seen)
	if f.last.Record.Cluster == f.group && f.last.Record.Epoch > logged.Record.Epoch {
		logged.Record = f.last.Record
	}
	return &Backup{logged.Record, seen}, nil
}

// logged returns what the voter's log knows; nil if it has no record. Entries that are not
// known to be committed count as seen.
func (f *folder) logged() (*Backup, error) {
	state, err := raft.Read(f.store)
	if err != nil || len(state) == 0 {
		return nil, err
	}
	v, err := views.OpenReplica(views.ReplicaConfig{Logs: logKind, State: state})
	if err != nil {
		return nil, err
	}
	all, err := raft.ParseState(state)
	if err != nil || v.Record().Cluster == 0 {
		return nil, err
	}
	return &Backup{v.Record().Clone(), v.Record().Epoch + all.Last() - all.Hard.Commit}, nil
}

// backup returns a backup of the cluster of a node that runs.
func (n *Node) backup() (*Backup, error) {
	r := n.p.Record()
	if r.Cluster == 0 {
		return nil, errors.New("the node has not joined a cluster yet: ask another node")
	}
	return &Backup{r.Clone(), r.Epoch}, nil
}
