package storm

import (
	"slices"

	"github.com/stile-lock/stile/internal/views"
)

// A cluster is what the oracle knows of one cluster: its views, its log and the leases that
// it has granted. When a backup is restored, another cluster takes its place. What was
// granted before still counts: fencing tokens, holds and the resource belong to no cluster.
type cluster struct {
	earlier  []uint64    // clusters that it was restored from
	former   *cluster    // the same cluster before it went back; nil if it did not
	past     uint64      // the highest epoch of earlier clusters; 0 if there was none
	first    uint64      // its first epoch; 0 before its first view is committed
	agreed   []agreed    // committed views by epoch, from the first
	channels [][]channel // the same, and by the ranks of sender and receiver
	counts   [][]uint64  // last count by lock, and then by epoch
	log      []settled   // states of the record by index
	since    int64       // when the last view was committed
	voters   []uint64    // voters of the last view
	term     uint64      // the highest term in which a voter serves
	termAt   int64       // start of that term
	limits   []limit     // limits of all evicted members
}

func newCluster(locks int, past uint64) cluster {
	return cluster{past: past, counts: make([][]uint64, locks)}
}

// epoch returns the epoch of the newest committed view; 0 before the first.
func (c *cluster) epoch() uint64 {
	if len(c.agreed) == 0 {
		return 0
	}
	return c.first + uint64(len(c.agreed)) - 1
}

// place returns the index of an epoch in what is stored by epoch, and whether it belongs to
// this cluster.
func (c *cluster) place(epoch uint64) (int, bool) {
	return int(epoch - c.first), len(c.agreed) > 0 && epoch >= c.first && epoch <= c.epoch()
}

// isView reports whether the view of an epoch was committed with this hash of its record.
func (c *cluster) isView(epoch, hash uint64) bool {
	at, ok := c.place(epoch)
	return ok && (c.agreed[at].hash == hash || c.agreed[at].open == hash)
}

// was reports whether a view was committed before the cluster went back.
func (c *cluster) was(epoch, hash uint64) bool {
	return c.former != nil && epoch <= c.past && (c.former.isView(epoch, hash) || c.former.was(epoch, hash))
}

// counted returns the last count of a lock in an epoch.
func (c *cluster) counted(lock int, epoch uint64) *uint64 {
	at, ok := c.place(epoch)
	if !ok {
		return new(uint64)
	}
	all := &c.counts[lock]
	for len(*all) <= at {
		*all = append(*all, 0)
	}
	return &(*all)[at]
}

// begins judges the first view of a cluster, or the first since it went back. Epochs must
// also rise across a restore; otherwise its members, voters and fencing tokens would be mistaken for those of an
// earlier cluster.
func (o *oracle) begins(q *proc, r *views.Record) {
	if o.first = r.Epoch; r.Epoch <= o.past {
		o.w.broken(Views, "%s starts a cluster in epoch %d, but an earlier one has reached epoch %d", o.w.Name(q.id), r.Epoch, o.past)
	}
	if o.earlier = slices.Clone(r.Earlier); o.past > 0 && o.former == nil {
		o.w.backups.noted = r.Epoch
	}
}
