package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/client"
	"github.com/stile-lock/stile/internal/lock"
	"github.com/stile-lock/stile/internal/node"
	"github.com/stile-lock/stile/internal/node/cert"
)

const orderRights = `
[[rule]]
who = ["client/reader", "client/job"]
locks = "*"
may = ["lock", "read"]

[[rule]]
who = "admin/bob"
locks = "mine/*"
may = ["admin", "read"]

[[rule]]
who = "admin/alice"
locks = "*"
may = ["admin", "read"]
`

// gates starts a gateway at each node.
func (w *town) gates() (all [3]*api) {
	w.t.Helper()
	all[0] = w.api
	for i := 1; i < len(all); i++ {
		all[i] = gateWith(w.t, w.nodes[i], Config{Listen: "127.0.0.1:0", TLS: w.nodes[i].Keys()})
	}
	return all
}

// leader returns the place of the node that leads the view service.
func (w *town) leader() (at int) {
	w.t.Helper()
	eventually(w.t, "there is a leader", func() bool {
		for i, n := range w.nodes {
			if n.Status().Leader == n.Name() {
				at = i
				return true
			}
		}
		return false
	})
	return at
}

// Every node takes orders for the whole cluster, from those who may administer it, and both it
// and the node that carries them out audit them.
func TestOrders(t *testing.T) {
	w := newTown(t, orderRights)
	gates := w.gates()
	alice, bob, reader := w.order(cert.Admin, "alice"), w.order(cert.Admin, "bob"), w.order(cert.Client, "reader")
	epoch := w.nodes[0].Status().Epoch
	orders := map[string]object{
		"Evict": {"node": "c"}, "Choose": {"algorithm": "raymond"}, "Leave": {"node": "c"}, "MoveSession": {"node": "c", "session": 1},
	}
	names := map[string]string{"Evict": "evict", "Choose": "choose", "Leave": "leave", "MoveSession": "move-session"}
	for method, in := range orders {
		for who, files := range map[string]cert.Config{"client reader": reader, "admin bob": bob} {
			w.api.as(files).fails(isDenied, "Cluster/"+method, in)
			w.audited(0, map[string]string{"who": who, "what": names[method], "result": "denied"})
		}
	}
	a := w.api.as(alice)
	for method, all := range map[string][]object{
		"Evict":       {{}, {"node": ""}},
		"Choose":      {{}, {"algorithm": "quickest"}, {"algorithm": "a=raymond,a=central"}},
		"MoveSession": {{}, {"node": "c"}, {"session": 1}},
	} {
		for _, in := range all {
			a.fails(badRequest, "Cluster/"+method, in)
		}
	}
	for method, in := range map[string]object{"Evict": {"node": "x"}, "Leave": {"node": "x"}, "MoveSession": {"node": "x", "session": 1}} {
		a.fails(isDeclined, "Cluster/"+method, in)
	}
	a.fails(isDeclined, "Cluster/MoveSession", object{"node": "b", "session": 1})
	w.audited(0, map[string]string{"who": "admin alice", "what": "move-session", "session": "1", "result": "failed", "err": "no such session"})
	w.audited(1, map[string]string{"who": "node a", "for": "admin alice", "what": "move-session", "session": "1", "result": "failed"})
	for i, n := range w.nodes {
		if s := n.Status(); s.Epoch != epoch || s.State != node.Member.String() {
			t.Errorf("%d: %+v, after epoch %d", i, s, epoch)
		}
	}
	lead := w.leader()
	for i, g := range gates {
		algorithm := [3]string{"raymond", "central", "x/=raymond"}[i]
		out := g.as(alice).call("Cluster/Choose", object{"algorithm": algorithm})
		if given, err := strconv.ParseUint(fmt.Sprint(out.at("epoch")), 10, 64); err != nil || given < epoch {
			t.Errorf("%v, after epoch %d", out, epoch)
		}
		eventually(t, "all use "+algorithm, func() bool {
			for _, n := range w.nodes {
				if !strings.Contains(n.Status().Algorithm, algorithm) {
					return false
				}
			}
			return true
		})
		w.audited(i, map[string]string{"who": "admin alice", "what": "choose", "algorithm": algorithm, "result": "done"})
		if i != lead {
			w.audited(lead, map[string]string{"who": "node " + w.nodes[i].Name(), "for": "admin alice", "what": "choose", "algorithm": algorithm, "result": "done"})
		}
	}
	w.evicts(gates, alice)
}

// evicts evicts a node, which joins again, through another node that does not lead; and then
// makes it leave.
func (w *town) evicts(gates [3]*api, alice cert.Config) {
	w.t.Helper()
	lead := w.leader()
	through, out := (lead+1)%3, (lead+2)%3
	name := w.nodes[out].Name()
	incarnation := func() uint64 {
		for _, m := range w.nodes[lead].Status().Members {
			if m.Name == name {
				return m.Incarnation
			}
		}
		return 0
	}
	before := incarnation()
	gates[through].as(alice).call("Cluster/Evict", object{"node": name})
	eventually(w.t, "it is evicted and comes back", func() bool { now := incarnation(); return now != 0 && now != before })
	w.audited(through, map[string]string{"who": "admin alice", "what": "evict", "member": name, "result": "done"})
	w.audited(lead, map[string]string{"who": "node " + w.nodes[through].Name(), "for": "admin alice", "what": "evict", "member": name, "result": "done"})
	eventually(w.t, "it is linked", func() bool {
		for _, m := range w.nodes[through].Status().Members {
			if m.Name == name {
				return m.Linked && w.nodes[out].Unready() == ""
			}
		}
		return false
	})
	if got := gates[through].as(alice).call("Cluster/Leave", object{"node": name}); got.at("node") != name || got.at("address") != w.nodes[out].Address() {
		w.t.Errorf("%v", got)
	}
	<-w.nodes[out].Done()
	w.audited(out, map[string]string{"who": "node " + w.nodes[through].Name(), "for": "admin alice", "what": "leave", "result": "done"})
	eventually(w.t, "it has left", func() bool { return incarnation() == 0 })
	gates[through].as(alice).fails(isDeclined, "Cluster/Leave", object{"node": name})
	gates[through].as(alice).call("Cluster/Leave", nil)
	<-w.nodes[through].Done()
}

// An operator moves a client to another node. It keeps its locks, and goes on waiting.
func TestMoveSession(t *testing.T) {
	w := newTown(t, orderRights)
	alice := w.api.as(w.order(cert.Admin, "alice"))
	x, err := client.Dial(t.Context(), client.Config{Name: "nightly", Nodes: []string{w.nodes[1].Address()}, TLS: w.order(cert.Client, "job")})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	held, err := x.Lock(t.Context(), "x", lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// at returns through which nodes the lock is held, and the session at the first of them.
	at := func() (nodes []string, session any) {
		out := alice.call("Cluster/ListLocks", object{"prefix": "x"})
		all, _ := out.at("locks").([]any)
		for _, l := range all {
			l := object(l.(map[string]any))
			session = l.at("holder", "session")
			nodes = append(nodes, l.at("holder", "node").(string))
		}
		return nodes, session
	}
	nodes, session := at()
	if len(nodes) != 1 || nodes[0] != "b" || session == nil {
		t.Fatalf("held through %q, session %v", nodes, session)
	}
	out := alice.call("Cluster/MoveSession", object{"node": "b", "session": session})
	if out.at("who") != `client job (label "nightly") at b` || out.at("holds") != 1.0 {
		t.Errorf("%v", out)
	}
	w.audited(0, map[string]string{"who": "admin alice", "what": "move-session", "session": session.(string), "client": "client job", "result": "done"})
	w.audited(1, map[string]string{"who": "node a", "for": "admin alice", "what": "move-session", "client": "client job", "result": "done"})
	eventually(t, "its lock is held through another node", func() bool {
		for _, i := range []int{0, 2} {
			if len(w.nodes[i].Queue("x")) == 0 && w.nodes[i].Status().Held == 1 {
				return true
			}
		}
		return false
	})
	if x.Node() == w.nodes[1].Address() || held.Err() != nil {
		t.Errorf("it is at %s: %v", x.Node(), held.Err())
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
	eventually(t, "it is released everywhere", func() bool { nodes, _ := at(); return len(nodes) == 0 })
}

// A session over HTTP stays at its node.
func TestMoveHTTP(t *testing.T) {
	a := serve(t, nil)
	s := a.open(nil)
	held := a.acquire(s, "x")
	all, _ := a.call("Cluster/ListLocks", nil).at("locks").([]any)
	session := object(all[0].(map[string]any)).at("holder", "session")
	out, _, reason := a.try("Cluster/MoveSession", object{"node": "a", "session": session})
	if text, _ := out.at("message").(string); reason != isDeclined.reason || !strings.Contains(text, "HTTP") {
		t.Errorf("%v", out)
	}
	a.release(s, held)
}

// Only members of the cluster may pass on the orders of others, and no node gives its own.
func (w *town) ordersForOthers(t *testing.T) {
	held := w.hold(1, "x")
	order := func(o node.Order) []byte {
		o.For = "admin alice"
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ask := func(files cert.Config, what uint64, about []byte) error {
		_, _, err := client.Query(t.Context(), client.Config{Nodes: []string{w.nodes[1].Address()}, TLS: files}, what, about)
		return err
	}
	stranger, bob := w.order(cert.Node, "m"), w.order(cert.Admin, "bob")
	member := cert.Config{CA: stranger.CA, Cert: filepath.Join(w.dir, "a.crt"), Key: filepath.Join(w.dir, "a.key")}
	release, evict := order(node.Order{What: node.AskRelease, About: "x"}), order(node.Order{What: node.AskEvict, About: "b"})
	for name, err := range map[string]error{
		"a client":                          ask(w.order(cert.Client, "other"), node.AskOrderFor, release),
		"a node that is not a member":       ask(stranger, node.AskOrderFor, release),
		"the same, about the cluster":       ask(stranger, node.AskOrderFor, evict),
		"a member, for itself":              ask(member, node.AskRelease, []byte("x")),
		"the same, about the cluster too":   ask(member, node.AskEvict, []byte("b")),
		"an administrator of no locks":      ask(bob, node.AskOrderFor, release),
		"the same, about the whole cluster": ask(bob, node.AskOrderFor, evict),
		"garbage":                           ask(stranger, node.AskOrderFor, []byte("{")),
	} {
		if !errors.Is(err, lock.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var declined client.Declined
	for name, about := range map[string][]byte{"garbage": []byte("{"), "a question": order(node.Order{What: node.AskStatus}), "an order for an order": order(node.Order{What: node.AskOrderFor}), "an unknown order": order(node.Order{What: 999})} {
		if err := ask(member, node.AskOrderFor, about); !errors.As(err, &declined) {
			t.Errorf("%s of a member: %v", name, err)
		}
	}
	if held.Err() != nil {
		t.Errorf("the lock is lost: %v", held.Err())
	}
}
