package console

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/node"
)

// A helloDoc says who the caller is, what it may do, and where else the console is served.
type helloDoc struct {
	At          int64      `json:"at_ms"` // on the clock that moments in documents are on
	Node        string     `json:"node"`
	Who         string     `json:"who"`
	Identity    string     `json:"identity"`
	Reads       bool       `json:"reads"`
	Administers bool       `json:"administers"`
	Algorithms  []string   `json:"algorithms"` // that can be chosen, if the caller administers the cluster
	Nodes       []nodeHTTP `json:"nodes"`
}

// A nodeHTTP is a member that serves HTTP.
type nodeHTTP struct {
	Name string `json:"name"`
	HTTP string `json:"http"`
}

// helloTime is how long members have to say where they serve HTTP: a page waits for it.
const helloTime = 300 * time.Millisecond

// hello tells a caller what a page needs to begin.
func (c *Console) hello(w http.ResponseWriter, r *http.Request) {
	who := c.caller(r)
	may, err := c.cluster.May(who)
	s := c.cluster.Status()
	d := helloDoc{At: time.Now().UnixMilli(), Node: s.Node, Who: who.String(), Identity: who.Path(), Reads: err == nil, Administers: err == nil && may.Administers(""), Algorithms: []string{}, Nodes: []nodeHTTP{}}
	if d.Administers {
		d.Algorithms = choices()
	}
	if err == nil {
		d.Nodes = c.nodes.ask(r.Context(), c.cluster, who, &s)
	}
	answer(w, http.StatusOK, d)
}

// choices lists the algorithms that can be chosen.
func choices() []string {
	var all []string
	for _, s := range catalog.Live() {
		all = append(all, s.Name)
	}
	return append(all, "kept")
}

// addresses remember where members serve HTTP: one that does not answer now may have said.
type addresses struct {
	mu    sync.Mutex
	known map[string]string // by member and address
}

// ask asks the other members.
func (a *addresses) ask(ctx context.Context, c Cluster, who node.Caller, s *node.Status) []nodeHTTP {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	others := slices.DeleteFunc(slices.Clone(s.Members), func(m node.MemberInfo) bool { return m.Address == s.Address })
	all, err := askAll[node.Pulse](ctx, c, who, others, node.AskPulse, node.PulseQuery{For: who.Path()})
	out := []nodeHTTP{}
	if all == nil && err != nil {
		return out
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := map[string]string{}
	for i := range all {
		r := &all[i]
		key := r.member.Name + "\x00" + r.member.Address
		known[key] = r.answer.HTTP
		if r.err != nil {
			known[key] = a.known[key]
		}
		if known[key] != "" {
			out = append(out, nodeHTTP{r.member.Name, known[key]})
		}
	}
	a.known = known
	return out
}
