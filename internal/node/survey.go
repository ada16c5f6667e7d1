package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/views"
)

// A node that has been a member of a cluster asks around before it starts, because a voter
// acts at once, and a sole voter is a cluster. Later, the greetings of other nodes say the
// same, and package views decides.

// surveyTime is how long a node waits for the answers.
const surveyTime = time.Second

// An answered is the status of the node at an address.
type answered struct {
	address string
	Status
}

// An identity is what a node knows of itself before it starts.
type identity struct {
	name    string
	cluster uint64
	join    []string    // addresses that an operator has given
	owner   views.Voter // the node that last used the voter of this folder; empty if none is known
	lost    uint64      // cluster that is recovered by this start; 0 if there is none
}

// survey returns why this node must not start, as far as nodes that run can tell.
func (n *Node) survey(known []string) error {
	if n.cluster == 0 {
		return nil
	}
	x := identity{name: n.c.Name, cluster: n.cluster, join: n.c.Join, owner: n.folder.owner()}
	all := append(slices.Concat(x.join, known), x.owner.Address)
	if r := n.folder.recovers; r != nil {
		x.lost = r.record().Cluster
		all = append(all, addresses(r.record())...)
	}
	slices.Sort(all)
	self := cmp.Or(n.c.Advertise, n.c.Listen)
	all = slices.DeleteFunc(slices.Compact(all), func(a string) bool { return a == self || a == "" })
	return x.judge(statuses(&n.c, all))
}

// statuses returns the status of the nodes that answer.
func statuses(c *Config, addresses []string) (all []answered) {
	ctx, cancel := context.WithTimeout(context.Background(), surveyTime)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, a := range addresses {
		wg.Go(func() {
			got := answered{address: a}
			b, _, err := client.Query(ctx, client.Config{Nodes: []string{a}, TLS: c.TLS, Insecure: c.Insecure}, AskStatus, nil)
			if err != nil || json.Unmarshal(b, &got.Status) != nil {
				return // it may come up later
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, got)
		})
	}
	wg.Wait()
	return all
}

// AskAt asks a node, possibly this one, and decodes its answer.
func (n *Node) AskAt(ctx context.Context, address string, what uint64, about []byte, to any) error {
	var b []byte
	var err error
	if address == n.address && n.p != nil {
		if err := n.Err(); err != nil {
			return err
		}
		b, err = n.askHere(ctx, what, about)
	} else {
		b, _, err = client.Query(ctx, client.Config{Nodes: []string{address}, Keys: n.keys, Insecure: n.c.Insecure}, what, about)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// judge returns why a node of a cluster must not start: another cluster is where it was told
// to join, its cluster was recovered, the cluster that it recovers is still there, or the
// node that its voter belongs to runs elsewhere. If a node of its own cluster answers, those
// of others at addresses to join do not count.
func (x *identity) judge(all []answered) error {
	var other error
	met := false
	for _, a := range all {
		theirs := uint64(0)
		_, _ = fmt.Sscanf(a.Cluster, "%x", &theirs) // 0 if it is none
		switch {
		case slices.Contains(a.Recovered, clusterID(x.cluster)):
			return &views.Recovered{Own: x.cluster, Theirs: theirs, Address: a.address}
		case x.lost != 0 && theirs == x.lost:
			return fmt.Errorf("node %s at %s still runs in cluster %s, which this node recovers as cluster %s: stop all nodes of that cluster first", a.Node, a.address, a.Cluster, clusterID(x.cluster))
		case theirs == x.cluster && a.address == x.owner.Address && a.Node == x.owner.Name:
			return &views.InUse{Name: x.name, Copy: true, Bearer: a.Node, Address: a.address}
		case theirs == x.cluster:
			met = true
		case theirs != 0 && slices.Contains(x.join, a.address):
			other = &views.OtherCluster{Own: x.cluster, Theirs: theirs, Address: a.address}
		}
	}
	if met {
		return nil
	}
	return other
}
