package rights

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/node/cert"
)

func TestTokens(t *testing.T) {
	now := time.Now()
	all, err := ParseTokens("")
	if err != nil {
		t.Fatal(err)
	}
	all, first, err := all.Create("ci", cert.IsClient, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	all, second, err := all.Create("deploy", cert.IsAdmin, now.Add(2*time.Hour))
	if err != nil || first == second {
		t.Fatal(err)
	}
	text := all.Text()
	if strings.Contains(text, first) || strings.Contains(text, strings.TrimPrefix(first, tokenPrefix)) {
		t.Error("the token itself is stored")
	}
	if all, err = ParseTokens(text); err != nil || all.Text() != text {
		t.Fatal(err)
	}
	find := func(bearer string, at time.Time, want cert.Identity) {
		t.Helper()
		got, err := all.Find(bearer, at)
		if got != want || errors.Is(err, ErrToken) != (want == cert.Identity{}) {
			t.Errorf("%v, %v", got, err)
		}
		if want != (cert.Identity{}) && all.Check(want, at) != nil {
			t.Error(all.Check(want, at))
		}
	}
	find(first, now, ci)
	find(second, now, deploy)
	find(first, now.Add(time.Hour), cert.Identity{})
	for _, bad := range []string{"", first + "x", first[1:], strings.ToUpper(first), all.List()[0].Hash, all.List()[0].Name} {
		find(bad, now, cert.Identity{})
	}
	if all.Check(ci, now.Add(time.Hour)) == nil || all.Check(cert.Identity{Kind: cert.IsAdmin, Name: "ci", Token: true}, now) == nil {
		t.Error("a token is good for longer, or for more, than it was created for")
	}
	if _, _, err := all.Create("ci", cert.IsClient, now); err == nil {
		t.Error("two tokens with one name")
	}
	if _, _, err := all.Create("a/b", cert.IsClient, now); err == nil {
		t.Error("any name will do")
	}
	if _, err := all.Revoke("x"); err == nil {
		t.Error("a token that does not exist is revoked")
	}
	if all, err = all.Revoke("ci"); err != nil || len(all.List()) != 1 {
		t.Fatal(err)
	}
	find(first, now, cert.Identity{})
	find(second, now, deploy)
	if all.Check(ci, now) == nil {
		t.Error("a revoked token is good")
	}
	var none *Tokens
	if _, err := none.Find(second, now); !errors.Is(err, ErrToken) || none.Check(deploy, now) == nil {
		t.Error(err)
	}
}

func TestBadTokens(t *testing.T) {
	const hash = "00000000000000000000000000000000000000000000000000000000000000ff"
	token := func(name, kind, hash, expires string) string {
		return "[[token]]\nname = '" + name + "'\nfor = '" + kind + "'\nhash = '" + hash + "'\nexpires = " + expires + "\n"
	}
	good := token("a", "client", hash, "2030-01-01T00:00:00Z")
	if _, err := ParseTokens(good); err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"listed twice":      good + good,
		"token b: listed":   good + strings.Replace(good, "'a'", "'b'", 1), // with the same hash
		"want client or":    token("a", "node", hash, "2030-01-01T00:00:00Z"),
		"its hash":          token("a", "client", "12", "2030-01-01T00:00:00Z"),
		"lower-case":        token("a", "client", strings.ToUpper(hash), "2030-01-01T00:00:00Z"),
		"invalid name":      token("a b", "client", hash, "2030-01-01T00:00:00Z"),
		"no time":           "[[token]]\nname = 'a'\nfor = 'client'\nhash = '" + hash + "'\n",
		"unknown key token": good + "days = 3\n",
		"expected":          "[[token",
	} {
		_, err := ParseTokens(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n\t%v, want it to say %q", text, err, want)
		}
	}
}
