package rights

import (
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/node/cert"
	"github.com/stile-lock/stile/internal/session"
)

var (
	anyone = cert.Identity{}
	node   = cert.Identity{Kind: cert.IsNode, Name: "db1"}
	backup = cert.Identity{Kind: cert.IsClient, Name: "backup"}
	web    = cert.Identity{Kind: cert.IsClient, Name: "web-7"}
	alice  = cert.Identity{Kind: cert.IsAdmin, Name: "alice"}
	bob    = cert.Identity{Kind: cert.IsAdmin, Name: "bob"}
	ci     = cert.Identity{Kind: cert.IsClient, Name: "ci", Token: true}
	deploy = cert.Identity{Kind: cert.IsAdmin, Name: "deploy", Token: true}
)

func parse(t testing.TB, text string, tls bool) *Rules {
	t.Helper()
	r, err := Parse(text, tls)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const example = `
[[rule]]
who = "client/backup"
locks = ["nightly", "backup/*"]
may = ["lock", "read"]
quota = { sessions = 10, locks = 100 }

[[rule]]
who = ["client/web-*", "token/ci"]
locks = "orders/*"
may = "lock"
quota = { locks = 50, names = 20 }

[[rule]]
who = ["client/*"]
locks = ["public/*"]
may = ["read"]
quota = { locks = 70 }

[[rule]]
who = ["admin/alice", "token/deploy"]
locks = ["*"]
may = ["read", "admin"]

[[rule]]
who = "admin/bob"
locks = "orders/*"
may = "admin"
`

// A cell is a question, and the answer.
type cell struct {
	who  cert.Identity
	a    Action
	lock string
	ok   bool
}

func (c *cell) ask(t *testing.T, r *Rules) {
	t.Helper()
	ok, why := r.Decide(c.who, c.a, c.lock)
	if ok != c.ok || ok != (why == "") {
		t.Errorf("%v, action %d on %q: %t (%s)", c.who, c.a, c.lock, ok, why)
	}
}

func TestDefault(t *testing.T) {
	for _, tls := range []bool{false, true} {
		r := Default(tls)
		if r.Open() == tls || r.Given() {
			t.Errorf("open: %t", r.Open())
		}
		for _, who := range []cert.Identity{anyone, node, backup, ci, alice, deploy} {
			some := who != anyone || !tls
			for _, a := range []Action{Lock, Read, Look, Attach} {
				(&cell{who, a, "x", some}).ask(t, r)
			}
			admin := who.Kind == cert.IsAdmin || who == anyone && !tls
			for _, lock := range []string{"x", ""} {
				(&cell{who, Administer, lock, admin}).ask(t, r)
			}
			if q := r.Quota(who); q != (session.Quota{}) {
				t.Errorf("%v has a quota: %+v", who, q)
			}
		}
	}
}

func TestRules(t *testing.T) {
	r := parse(t, example, true)
	if r.Open() || !r.Given() {
		t.Error("it is as if there were no file")
	}
	for _, c := range []cell{
		{backup, Lock, "nightly", true}, {backup, Lock, "nightly2", false}, {backup, Lock, "backup/", true}, {backup, Lock, "backup/7", true},
		{backup, Lock, "backup", false}, {backup, Lock, "", false}, {backup, Read, "backup/7", true}, {backup, Read, "orders/7", false},
		{backup, Read, "public/x", true}, {backup, Lock, "public/x", false}, {backup, Look, "", true}, {backup, Administer, "nightly", false}, {backup, Administer, "", false},
		{web, Lock, "orders/1", true}, {web, Read, "orders/1", false}, {web, Read, "public/1", true}, {web, Look, "", true},
		{ci, Lock, "orders/1", true}, {ci, Look, "", false}, {ci, Read, "public/1", false},
		{cert.Identity{Kind: cert.IsClient, Name: "ci"}, Lock, "orders/1", false},
		{cert.Identity{Kind: cert.IsAdmin, Name: "backup"}, Lock, "nightly", false},
		{cert.Identity{Kind: cert.IsClient, Name: "deploy", Token: true}, Administer, "", false}, // it is not for an administrator
		{alice, Lock, "x", false}, {alice, Read, "x", true}, {alice, Administer, "x", true}, {alice, Administer, "", true},
		{deploy, Administer, "x", true}, {deploy, Administer, "", true},
		{bob, Administer, "orders/1", true}, {bob, Administer, "x", false}, {bob, Administer, "", false}, {bob, Look, "", false},
		{node, Lock, "x", true}, {node, Read, "x", true}, {node, Look, "", true}, {node, Administer, "x", false}, {node, Administer, "", false},
		{anyone, Lock, "orders/1", false}, {anyone, Look, "", false},
		{backup, Attach, "", true}, {ci, Attach, "", true}, {alice, Attach, "", false}, {bob, Attach, "", false}, {node, Attach, "", true}, {anyone, Attach, "", false},
		{backup, Read, "", false}, {web, Read, "", false}, {alice, Read, "", true}, {bob, Read, "", false}, {node, Read, "", true}, {anyone, Read, "", false},
	} {
		c.ask(t, r)
	}
	for who, want := range map[cert.Identity]session.Quota{
		backup: {Sessions: 10, Locks: 70}, web: {Locks: 50, Names: 20}, alice: {}, node: {}, ci: {Locks: 50, Names: 20},
	} {
		if q := r.Quota(who); q != want {
			t.Errorf("%v: %+v, want %+v", who, q, want)
		}
	}
}

// Without TLS, callers have no identity, and a rule can be about all of them. With TLS,
// such a rule opens nothing to callers who present nothing.
func TestAnyone(t *testing.T) {
	const text = "[[rule]]\nwho = 'anyone'\nlocks = 'x*'\nmay = ['lock', 'admin']\n"
	for _, tls := range []bool{false, true} {
		r := parse(t, text, tls)
		for _, c := range []cell{{anyone, Lock, "x1", !tls}, {anyone, Administer, "x1", !tls}, {anyone, Lock, "y", false}, {anyone, Administer, "", false}, {backup, Lock, "x1", false}} {
			c.ask(t, r)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a*b", true},
		{"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"*a", "ab", false}, {"a*b", "ab", true}, {"a*b", "a", false}, {"a*a", "a", false},
		{"a*b*c", "axbxc", true}, {"a*b*c", "acb", false}, {"*ab*ab", "ab", false}, {"*ab*ab", "abab", true}, {"**", "x", true},
	} {
		if matches(c.pattern, c.s) != c.want {
			t.Errorf("%q on %q: %t", c.pattern, c.s, !c.want)
		}
	}
}

func TestBadRules(t *testing.T) {
	rule := func(who, locks, may, more string) string {
		return "[[rule]]\nwho = " + who + "\nlocks = " + locks + "\nmay = " + may + "\n" + more
	}
	good := rule("'client/a'", "'*'", "'lock'", "")
	parse(t, good, true)
	for want, text := range map[string]string{
		"no [[rule]]":              "",
		"expected":                 "[[rule",
		"unknown key rule.lock":    good + "lock = 'x'\n",
		"unknown key rules":        good + "[rules]\n",
		"rule 2: it has no who":    good + "[[rule]]\nlocks = '*'\nmay = 'lock'\n",
		"it has no locks":          "[[rule]]\nwho = 'client/a'\nmay = 'lock'\n",
		"it has no may":            "[[rule]]\nwho = 'client/a'\nlocks = '*'\n",
		"locks = \"\"":             rule("'client/a'", "['x', '']", "'lock'", ""),
		"want lock, read or admin": rule("'client/a'", "'*'", "'write'", ""),
		"may = \"\"":               rule("'client/a'", "'*'", "''", ""),
		"clients cannot":           rule("['admin/a', 'client/a']", "'*'", "['lock', 'admin']", ""),
		"nodes may always":         rule("'node/a'", "'*'", "'lock'", ""),
		"who = \"backup\"":         rule("'backup'", "'*'", "'lock'", ""),
		"who = \"client/\"":        rule("'client/'", "'*'", "'lock'", ""),
		"who = \"*\"":              rule("'*'", "'*'", "'lock'", ""),
		"who = \"anyone/x\"":       rule("'anyone/x'", "'*'", "'lock'", ""),
		"want a text":              rule("1", "'*'", "'lock'", ""),
		"quota sessions = 0":       rule("'client/a'", "'*'", "'lock'", "quota.sessions = 0\n"),
		"quota names = -1":         rule("'client/a'", "'*'", "'lock'", "quota.names = -1\n"),
		"quota locks = 9":          rule("'client/a'", "'*'", "'lock'", "quota.locks = 9223372036854775807\n"),
	} {
		_, err := Parse(text, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n\t%v, want it to say %q", text, err, want)
		}
	}
}

// Whatever a file contains, it is refused or decides.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("[[rule]]\nwho = 'anyone'\nlocks = 'x'\nmay = 'admin'")
	f.Fuzz(func(t *testing.T, text string) {
		if tokens, err := ParseTokens(text); err == nil {
			if _, err := ParseTokens(tokens.Text()); err != nil {
				t.Errorf("not read back: %v", err)
			}
		}
		r, err := Parse(text, true)
		if err != nil {
			return
		}
		for _, who := range []cert.Identity{anyone, node, backup, alice, ci} {
			r.Quota(who)
			for a := Lock; a <= Administer; a++ {
				for _, lock := range []string{"", "x", "backup/7"} {
					if ok, _ := r.Decide(who, a, lock); ok && (who == anyone || a == Administer && who.Kind != cert.IsAdmin) {
						t.Errorf("%v may do %d with %q", who, a, lock)
					}
				}
			}
		}
	})
}

// An identity is known if a rule is about it, whatever the rule allows; without a rights file,
// if it has a certificate or a token, or if there is no TLS.
func TestKnown(t *testing.T) {
	const text = `
[[rule]]
who = ["client/a-*", "anyone"]
locks = "x"
may = "read"
`
	given, err := Parse(text, true)
	if err != nil {
		t.Fatal(err)
	}
	client := func(name string) cert.Identity { return cert.Identity{Kind: cert.IsClient, Name: name} }
	for _, c := range []struct {
		rules *Rules
		who   cert.Identity
		want  bool
	}{
		{given, client("a-1"), true},
		{given, client("b"), false},
		{given, cert.Identity{Kind: cert.IsAdmin, Name: "a-1"}, false},
		{given, cert.Identity{Kind: cert.IsClient, Name: "a-1", Token: true}, false},
		{given, cert.Identity{Kind: cert.IsNode, Name: "n"}, true},
		{given, cert.Identity{}, true},
		{Default(true), client("b"), true},
		{Default(true), cert.Identity{}, false},
		{Default(false), cert.Identity{}, true},
	} {
		if got := c.rules.Known(c.who); got != c.want {
			t.Errorf("%v is known: %t", c.who, got)
		}
	}
}
