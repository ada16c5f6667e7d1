package views

import (
	"fmt"
	"slices"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/internal/ticket"
)

// A Member is a member of the current view, and its address.
type Member struct {
	Name    string
	Address string
	Nonce   uint64 // drawn by its process before it asked to join
	Inc     uint64
	Voter   uint64 // number of the voter that runs in its process; 0 if there is none
}

// A Ghost is an evicted incarnation that may still act on its lease.
type Ghost struct {
	Inc   uint64
	Nonce uint64
	Rest  member.Span // how long, by a true clock, from when the view was committed
}

// A Voter stores the log. It is a disk rather than a process: a process that starts
// again with the disk is the same voter, and one that has lost it never is.
type Voter struct {
	ID      uint64
	Name    string
	Address string
	Leaves  bool // being removed from the log's own list of voters, or already removed
}

// A Record is what the voters agree on. At the same position of the log it is the same
// on all of them, byte by byte.
type Record struct {
	Cluster  uint64 // drawn at birth; 0 before
	Epoch    uint64
	Before   uint64 // epoch of the previous view; 0 if there was none
	Settings member.Settings
	Wanted   int      // wanted number of voters: 1, 3 or 5
	Members  []Member // by incarnation
	Formers  []uint64 // incarnations of the previous members
	Ghosts   []Ghost  // all of them, not only those of the last change
	Choices  []member.Choice
	Voters   []Voter      // by number
	Earlier  []uint64     // clusters that this one was recovered from, oldest first
	Keys     []ticket.Key // for tickets, newest first; empty in what others than members see
	Parted   uint64       // epoch of the last view that left out a member of the one before
}

// Bounds of what is replicated.
const (
	MaxVoters  = 5
	maxName    = 128 // bytes of a member's name
	maxChoices = 255
	maxLeaving = 2 * MaxVoters // voters that leave are few
	maxEarlier = 16            // older generations are forgotten

	// places is how many incarnations, or voters, one epoch can make.
	places   = member.MaxMembers
	maxEpoch = 1 << 56
)

// View returns the view that members install.
func (r *Record) View() member.View {
	v := member.View{Epoch: r.Epoch, BeforeEpoch: r.Before, Before: slices.Clone(r.Formers), Choices: slices.Clone(r.Choices)}
	for _, m := range r.Members {
		v.Members = append(v.Members, member.Who{Name: m.Name, Inc: m.Inc})
	}
	for _, g := range r.Ghosts {
		v.Ghosts = append(v.Ghosts, member.Ghost{Inc: g.Inc, Rest: g.Rest})
	}
	return v
}

// Rank returns the index of an incarnation among the members, or -1.
func (r *Record) Rank(inc uint64) int {
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Inc == inc })
}

// out reports whether an incarnation was a member and no longer is, permanently. Nothing
// is known of one that was admitted later than this record.
func (r *Record) out(inc uint64) bool { return r.Rank(inc) < 0 && inc/places <= r.Epoch }

// bearer returns the index of the member that has drawn a nonce, or -1.
func (r *Record) bearer(nonce uint64) int {
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Nonce == nonce })
}

// named returns the index of the member with a name, or -1.
func (r *Record) named(name string) int {
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Name == name })
}

// isGhost reports whether the bearer of a nonce is a ghost.
func (r *Record) isGhost(nonce uint64) bool {
	return slices.ContainsFunc(r.Ghosts, func(g Ghost) bool { return g.Nonce == nonce })
}

// voter returns the index of a voter, or -1.
func (r *Record) voter(id uint64) int {
	return slices.IndexFunc(r.Voters, func(v Voter) bool { return v.ID == id })
}

// Address returns the address of a voter, or nothing.
func (r *Record) Address(voter uint64) string {
	if i := r.voter(voter); i >= 0 {
		return r.Voters[i].Address
	}
	return ""
}

// staying returns the numbers of the voters that do not leave.
func (r *Record) staying() []uint64 {
	var all []uint64
	for _, v := range r.Voters {
		if !v.Leaves {
			all = append(all, v.ID)
		}
	}
	return all
}

// Clone returns a record that shares no mutable state with this one.
func (r *Record) Clone() Record {
	n := *r
	n.Members, n.Formers, n.Ghosts = slices.Clone(r.Members), slices.Clone(r.Formers), slices.Clone(r.Ghosts)
	n.Choices, n.Voters, n.Earlier = slices.Clone(r.Choices), slices.Clone(r.Voters), slices.Clone(r.Earlier)
	n.Keys = slices.Clone(r.Keys)
	return n
}

// Open returns the record as others than members may see it: without the keys.
func (r *Record) Open() Record {
	n := r.Clone()
	n.Keys = nil
	return n
}

// Check reports why voters cannot have agreed on this record.
func (r *Record) Check() error {
	if r.Cluster == 0 || r.Epoch >= maxEpoch {
		return fmt.Errorf("cluster %d in epoch %d: want a cluster above 0 and an epoch below %d", r.Cluster, r.Epoch, uint64(maxEpoch))
	}
	if err := r.Settings.Check(); err != nil {
		return err
	}
	v := r.View()
	if err := v.Check(); err != nil {
		return err
	}
	for i, k := range r.Keys {
		if k.Epoch > r.Epoch || i > 0 && k.Epoch >= r.Keys[i-1].Epoch {
			return fmt.Errorf("key of epoch %d in epoch %d: want the newest key first, and none of a later epoch", k.Epoch, r.Epoch)
		}
	}
	for i, m := range r.Members {
		switch {
		case m.Name == "" || r.named(m.Name) != i:
			return fmt.Errorf("member %q: want unique names that are not empty", m.Name)
		case m.Nonce == 0 || r.bearer(m.Nonce) != i || r.isGhost(m.Nonce):
			return fmt.Errorf("nonce %d of %q: want a unique number above 0", m.Nonce, m.Name)
		case m.Inc/places > r.Epoch || i > 0 && m.Inc <= r.Members[i-1].Inc:
			return fmt.Errorf("incarnation %d of %q in epoch %d: want ascending incarnations up to this epoch", m.Inc, m.Name, r.Epoch)
		}
	}
	return r.checkVoters()
}

func (r *Record) checkVoters() error {
	for i, v := range r.Voters {
		if v.ID == 0 || v.ID/places > r.Epoch || i > 0 && v.ID <= r.Voters[i-1].ID {
			return fmt.Errorf("voter %d in epoch %d: want ascending numbers above 0 up to this epoch", v.ID, r.Epoch)
		}
	}
	if n := len(r.staying()); n < 1 || n > MaxVoters || n%2 == 0 || len(r.Voters) > maxLeaving {
		return fmt.Errorf("%d voters and %d that are leaving: want 1, 3 or 5 voters", n, len(r.Voters)-n)
	}
	if r.Wanted < 1 || r.Wanted > MaxVoters || r.Wanted%2 == 0 {
		return fmt.Errorf("target of %d voters: want 1, 3 or 5", r.Wanted)
	}
	for i, m := range r.Members {
		if m.Voter != 0 && slices.IndexFunc(r.Members, func(o Member) bool { return o.Voter == m.Voter }) != i {
			return fmt.Errorf("voter %d runs in two processes", m.Voter)
		}
	}
	return nil
}
