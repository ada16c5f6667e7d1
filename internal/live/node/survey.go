package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/internal/live/client"
	"github.com/stile-lock/stile/internal/live/views"
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

// survey returns why this node must not start, as far as nodes that run can tell.
func (n *Node) survey(known []string) error {
	if n.cluster == 0 {
		return nil
	}
	name, address := n.folder.owner()
	all := slices.Concat(n.c.Join, known)
	if address != "" {
		all = append(all, address)
	}
	slices.Sort(all)
	self := n.c.Listen
	if n.c.Advertise != "" {
		self = n.c.Advertise
	}
	all = slices.DeleteFunc(slices.Compact(all), func(a string) bool { return a == self })
	return judge(n.c.Name, n.cluster, n.c.Join, views.Voter{Name: name, Address: address}, n.statuses(all))
}

// statuses returns the status of the nodes that answer.
func (n *Node) statuses(addresses []string) (all []answered) {
	ctx, cancel := context.WithTimeout(context.Background(), surveyTime)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, a := range addresses {
		wg.Go(func() {
			got := answered{address: a}
			b, _, err := client.Query(ctx, client.Config{Nodes: []string{a}, TLS: n.c.TLS, Insecure: n.c.Insecure}, AskStatus, nil)
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

// judge returns why a node of a cluster must not start: another cluster is where it was told
// to join, its cluster was recovered, or the node that its voter belongs to runs elsewhere. If
// one of the nodes to join is in its own cluster, the others do not count.
func judge(name string, cluster uint64, join []string, owner views.Voter, all []answered) error {
	var other error
	met := false
	own := clusterID(cluster)
	for _, a := range all {
		theirs := uint64(0)
		_, _ = fmt.Sscanf(a.Cluster, "%x", &theirs) // 0 if it is none
		switch {
		case slices.Contains(a.Recovered, own):
			return &views.Recovered{Own: cluster, Theirs: theirs, Address: a.address}
		case theirs == cluster && a.address == owner.Address && a.Node == owner.Name:
			return &views.InUse{Name: name, Copy: true, Bearer: a.Node, Address: a.address}
		case theirs == cluster:
			met = true
		case theirs != 0 && slices.Contains(join, a.address):
			other = &views.OtherCluster{Own: cluster, Theirs: theirs, Address: a.address}
		}
	}
	if met {
		return nil
	}
	return other
}
