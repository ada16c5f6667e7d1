package rights

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/session"
	"github.com/stile-lock/stile/internal/words"
)

// An Action is what an identity wants to do.
type Action uint8

// The actions.
const (
	Lock       Action = iota // acquire a lock
	Read                     // see who holds a lock and who is waiting for it
	Look                     // see the status of a node and its cluster: for all who may read any lock
	Attach                   // open a session: for all who may acquire any lock
	Administer               // take a lock from its holder; without a lock, administer the cluster
)

// The rights, as the file names them.
var rightNames = [...]string{Lock: "lock", Read: "read", Administer: "admin"}

// maxRules bounds the rules of a file, because each request is compared with all of them.
const maxRules = 10_000

// Rules are the rights of all identities. They are not changed once they are made.
type Rules struct {
	tls  bool // callers have identities
	file bool // list says what is allowed
	list []rule

	identities []mapping
}

// A rule allows some identities to do something with some locks.
type rule struct {
	who   []string // patterns of paths
	locks []string // patterns of names
	may   [Administer + 1]bool
	quota session.Quota
}

// Default returns the rights without a rights file. Without TLS everyone may do everything.
func Default(tls bool) *Rules { return &Rules{tls: tls} }

// Open reports whether everyone may do everything, so that there is nothing to decide.
func (r *Rules) Open() bool { return !r.tls && !r.file }

// Given reports whether there is a rights file.
func (r *Rules) Given() bool { return r.file }

// Known reports whether an identity may do anything at all: whether a rule is about it, if there is
// a rights file. One that is not known gets no session.
func (r *Rules) Known(who cert.Identity) bool {
	switch {
	case who.Kind == cert.IsNode:
		return true
	case r.file:
		return slices.ContainsFunc(r.list, func(u rule) bool { return u.covers(who) })
	}
	return !r.tls || who.Kind != cert.Anyone
}

// Decide reports whether an identity may do something with a lock, or with all locks and the
// cluster if there is no lock, and if not, why.
func (r *Rules) Decide(who cert.Identity, a Action, lock string) (ok bool, why string) {
	switch {
	case who.Kind == cert.IsNode:
		ok = a != Administer
	case who.Kind == cert.Anyone && r.tls:
		return false, "the caller has presented neither a certificate nor a token"
	case a == Administer && who.Kind == cert.IsClient:
	case r.file:
		ok = r.allowed(who, a, lock)
		why = "no rule of the rights file allows it"
	default:
		ok = true
	}
	if ok {
		return true, ""
	}
	if why == "" {
		why = "only administrators may"
	}
	return false, fmt.Sprintf("%v may not %s: %s", who, what(a, lock), why)
}

// what describes an action.
func what(a Action, lock string) string {
	switch {
	case a == Look:
		return "see the status of the node"
	case a == Attach:
		return "open a session"
	case a == Administer && lock == "":
		return "administer the cluster"
	case a == Administer:
		return "administer " + words.Quoted(lock)
	case lock == "":
		return rightNames[a] + " all locks"
	}
	return rightNames[a] + " " + words.Quoted(lock)
}

// allowed reports whether a rule allows an action. A rule about some locks only does not
// allow to administer the cluster.
func (r *Rules) allowed(who cert.Identity, a Action, lock string) bool {
	for i := range r.list {
		u := &r.list[i]
		if !u.covers(who) {
			continue
		}
		if a == Look && u.may[Read] || a == Attach && u.may[Lock] || u.may[a] && matchesAny(u.locks, lock) {
			return true
		}
	}
	return false
}

// Quota returns how much of a node an identity may use: the least of all rules about it.
func (r *Rules) Quota(who cert.Identity) (q session.Quota) {
	if who.Kind == cert.IsNode {
		return q
	}
	least := func(a *int, b int) {
		if *a == 0 || b != 0 && b < *a {
			*a = b
		}
	}
	for i := range r.list {
		if u := &r.list[i]; u.covers(who) {
			least(&q.Sessions, u.quota.Sessions)
			least(&q.Locks, u.quota.Locks)
			least(&q.Names, u.quota.Names)
		}
	}
	return q
}

// covers reports whether a rule is about an identity.
func (u *rule) covers(who cert.Identity) bool {
	path := who.Path()
	if who.Kind == cert.Anyone {
		path = who.Kind.String()
	}
	return matchesAny(u.who, path)
}

func matchesAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, s) })
}

// matches reports whether a pattern matches all of a string. A star matches any characters.
func matches(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == pattern
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], next
	}
}

// A file is a rights file.
type file struct {
	Rule []struct {
		Who   oneOrMore
		Locks oneOrMore
		May   oneOrMore
		Quota struct{ Sessions, Locks, Names *int64 }
	}
	Identity []struct{ Spiffe, Subject, Is string }
}

// oneOrMore is a text, or a list of texts.
type oneOrMore []string

// UnmarshalTOML implements toml.Unmarshaler.
func (o *oneOrMore) UnmarshalTOML(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, x := range list {
		s, ok := x.(string)
		if !ok {
			return errors.New("want a text, or a list of texts")
		}
		*o = append(*o, s)
	}
	return nil
}

// Parse reads a rights file.
func Parse(text string, tls bool) (*Rules, error) {
	var f file
	meta, err := toml.Decode(text, &f)
	switch {
	case err != nil:
		return nil, err
	case len(meta.Undecoded()) > 0:
		return nil, fmt.Errorf("unknown key %s: a [[rule]] has who, locks, may and quota, and an [[identity]] has is, and spiffe or subject", meta.Undecoded()[0])
	case len(f.Rule) == 0:
		return nil, errors.New("there is no [[rule]], so nothing would be allowed: add one, or run the node without a rights file")
	case max(len(f.Rule), len(f.Identity)) > maxRules:
		return nil, fmt.Errorf("%d rules and %d identities: at most %d of each are allowed", len(f.Rule), len(f.Identity), maxRules)
	}
	r := &Rules{tls: tls, file: true}
	for i, x := range f.Identity {
		m, err := newMapping(x.Spiffe, x.Subject, x.Is)
		if err != nil {
			return nil, fmt.Errorf("identity %d: %w", i+1, err)
		}
		r.identities = append(r.identities, m)
	}
	for i, x := range f.Rule {
		u := rule{who: x.Who, locks: x.Locks}
		err := u.allow(x.May)
		if err == nil {
			err = u.check()
		}
		for _, q := range []struct {
			name string
			from *int64
			to   *int
		}{{"sessions", x.Quota.Sessions, &u.quota.Sessions}, {"locks", x.Quota.Locks, &u.quota.Locks}, {"names", x.Quota.Names, &u.quota.Names}} {
			switch {
			case q.from == nil:
			case *q.from < 1 || *q.from > session.MaxQuota:
				err = errors.Join(err, fmt.Errorf("quota %s = %d: want 1 to %d, or none", q.name, *q.from, session.MaxQuota))
			default:
				*q.to = int(*q.from)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		r.list = append(r.list, u)
	}
	return r, nil
}

// allow sets what a rule allows.
func (u *rule) allow(names []string) error {
	for _, name := range names {
		i := slices.Index(rightNames[:], name)
		if i < 0 || name == "" {
			return fmt.Errorf("may = %q: want lock, read or admin", name)
		}
		u.may[i] = true
	}
	return nil
}

// check returns what is wrong with a rule.
func (u *rule) check() error {
	switch {
	case len(u.who) == 0:
		return errors.New("it has no who: want one such as \"client/backup\" or \"client/web-*\"")
	case u.may == [Administer + 1]bool{}:
		return errors.New("it has no may: want \"lock\", \"read\" or \"admin\", or several of them")
	case len(u.locks) == 0:
		return errors.New("it has no locks: want names such as \"nightly\" or \"orders/*\", or \"*\" for all of them")
	case slices.Contains(u.locks, ""):
		return errors.New("locks = \"\": want a name such as \"nightly\" or \"orders/*\", or \"*\" for all of them")
	}
	for _, who := range u.who {
		kind, name, _ := strings.Cut(who, "/")
		switch {
		case kind == cert.IsNode.String():
			return fmt.Errorf("who = %q: nodes may always lock and read, and never administer: leave it out", who)
		case kind == cert.IsClient.String() && u.may[Administer]:
			return fmt.Errorf("who = %q: clients cannot administer: create a certificate with 'stile cert admin'", who)
		case who == cert.Anyone.String():
		case name != "" && slices.Contains([]string{"client", "admin", "token"}, kind):
		default:
			return fmt.Errorf("who = %q: want client/NAME, admin/NAME, token/NAME or anyone; a star in NAME matches any characters", who)
		}
	}
	return nil
}
