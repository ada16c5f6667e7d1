package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Nodes that a scheduler starts all have the same settings, so each has the addresses of the
// others to join, and would wait for them forever. One of them is named as the founder. It
// founds the cluster only if its own directory is empty and all others answer that they
// belong to no cluster: a founder that has lost its directory finds a node that remembers
// the cluster, or one that does not answer, and joins or waits.

// MayFound decides whether the node of a configuration founds a cluster although it has
// nodes to join, and waits until that is decided. report is called when what it waits for
// changes.
func MayFound(ctx context.Context, c Config, report func(waits string)) (bool, error) {
	if has, err := hasCluster(c.Data); err != nil || has {
		return false, err
	}
	self := c.Advertise
	if self == "" {
		self = c.Listen
	}
	others := slices.DeleteFunc(slices.Clone(c.Join), func(a string) bool { return a == self })
	slices.Sort(others)
	others = slices.Compact(others)
	if len(others) == 0 {
		return false, fmt.Errorf("only %s is named to join, the founder's own address: name all nodes, so that a founder that has lost its data directory finds its cluster", strings.Join(c.Join, ", "))
	}
	for last := ""; ; {
		missing, none := judgeFounding(others, statuses(&c, others))
		switch {
		case !none:
			return false, nil
		case len(missing) == 0:
			return true, nil
		}
		if waits := strings.Join(missing, ", "); waits != last {
			report(waits)
			last = waits
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(surveyTime):
		}
	}
}

// hasCluster reports whether a data directory belongs to a cluster.
func hasCluster(dir string) (bool, error) {
	if dir == "" {
		return false, nil
	}
	f, err := openFolder(dir)
	if err != nil {
		return false, err
	}
	defer f.close()
	return f.cluster() != 0, nil
}

// judgeFounding returns which nodes have not answered, and whether none of the others
// belongs to a cluster.
func judgeFounding(others []string, all []answered) (missing []string, none bool) {
	missing = slices.Clone(others)
	for _, a := range all {
		if a.Cluster != clusterID(0) {
			return nil, false
		}
		missing = slices.DeleteFunc(missing, func(o string) bool { return o == a.address })
	}
	return missing, true
}
