package node

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/views"
)

// A founder founds only if all others answer, and none of them has a cluster.
func TestJudgeFounding(t *testing.T) {
	others := []string{"b", "c"}
	is := func(address, cluster string) answered { return answered{address, Status{Cluster: cluster}} }
	for name, x := range map[string]struct {
		all     []answered
		missing []string
		none    bool
	}{
		"no answer":                    {nil, others, true},
		"one answer":                   {[]answered{is("b", clusterID(0))}, []string{"c"}, true},
		"all, without a cluster":       {[]answered{is("b", clusterID(0)), is("c", clusterID(0))}, nil, true},
		"one has a cluster":            {[]answered{is("b", clusterID(0)), is("c", clusterID(7))}, nil, false},
		"the only answer is a cluster": {[]answered{is("c", clusterID(7))}, nil, false},
	} {
		if missing, none := judgeFounding(others, x.all); none != x.none || len(missing) != len(x.missing) || !slices.Equal(missing, x.missing) && len(missing) > 0 {
			t.Errorf("%s: %v, %v", name, missing, none)
		}
	}
}

// A founder waits for a node that is not there. It founds when all are, and never again:
// neither with its directory nor after that is lost.
func TestMayFound(t *testing.T) {
	t.Parallel()
	a, b, c := free(t), free(t), free(t)
	founder := Config{Name: "a", Listen: a, Join: []string{a, b, c}, Data: t.TempDir()}
	start := func(c Config) *Node {
		t.Helper()
		n, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Kill)
		return n
	}
	start(Config{Name: "b", Listen: b, Join: founder.Join, Data: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	var waits string
	if _, err := MayFound(ctx, founder, func(w string) { waits = w; cancel() }); !errors.Is(err, context.Canceled) || waits != c {
		t.Fatalf("without %s: %v, waits for %q", c, err, waits)
	}
	third := start(Config{Name: "c", Listen: c, Join: founder.Join, Data: t.TempDir()})
	decide := func(c Config) bool {
		t.Helper()
		founds, err := MayFound(t.Context(), c, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return founds
	}
	if !decide(founder) {
		t.Fatal("it does not found although all nodes answer")
	}
	first := founder
	first.Join, first.Later = nil, true
	n := start(first)
	if err := third.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := n.Status().Epoch; e < 1<<40 {
		t.Errorf("epoch %d: an earlier cluster may have had it", e)
	}
	n.Kill()
	if decide(founder) {
		t.Error("it founds again, with its directory")
	}
	lost := founder
	lost.Data = t.TempDir()
	if decide(lost) {
		t.Error("it founds again, without its directory")
	}
	alone := founder
	alone.Data, alone.Join = t.TempDir(), []string{a}
	if _, err := MayFound(t.Context(), alone, func(string) {}); err == nil {
		t.Error("a founder without others cannot know whether it has founded before")
	}
}

// free returns an address that nothing listens at.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A new cluster has an algorithm for every name, and keeps some; others can be chosen by
// prefix.
func TestChoices(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "=naimi-trehel kept/=kept:detect-central",
		"central":                       "=central kept/=kept:detect-central",
		"kept":                          "=kept:detect-central kept/=kept:detect-central",
		"kept/=central,a/=kept:ordered": "=naimi-trehel a/=kept:ordered kept/=central",
		"=central,b==kept":              "",
		"kept:other":                    "",
		"central,":                      "",
		"a/=":                           "",
		"central,=raymond":              "",
		"a/=central,a/=central":         "",
		"\xff=central":                  "",
	} {
		c, err := Config{Algorithm: text}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.choices()
		var got []string
		for _, x := range all {
			got = append(got, x.Prefix+"="+x.Algorithm)
		}
		if (err == nil) != (want != "") || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil {
			continue
		}
		c.Algorithm = chosen(&views.Record{Choices: all})
		if again, err := c.choices(); !slices.Equal(again, all) {
			t.Errorf("%q: the status says %q, which means %v, %v", text, c.Algorithm, again, err)
		}
	}
}
