package catalog

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/host"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/algorithm/quorum"
)

// Changes of the bytes that nobody gave a new version are caught: of states, of
// messages, and of what members make for themselves.
func TestVectorsCatchAChange(t *testing.T) {
	for _, spec := range Live() {
		caughtByVectors(t, "a byte more in each state", wrapped(spec, longerState))
	}
	caughtByVectors(t, "messages written otherwise", wrapped(mutex.NaimiTrehel(), longerMessages))
	caughtByVectors(t, "another tree", mutex.Raymond(mutex.Star))
	caughtByVectors(t, "other quorums", mutex.Maekawa(quorum.Majority))
	caughtByVectors(t, "another coordinator", mutex.Central(1))
}

func caughtByVectors(t *testing.T, what string, spec algorithm.Spec) {
	t.Helper()
	sound, err := MakeLive(spec.Name, spec.Version)
	if err != nil {
		t.Fatal(err)
	}
	want, err := vectors(sound)
	if err != nil {
		t.Fatal(err)
	}
	got, err := vectors(spec)
	if err != nil {
		t.Fatal(err)
	}
	if write, err := judge(spec, got, want, true); write || err == nil || !strings.Contains(err.Error(), "raise Version") {
		t.Errorf("%s, with %s: write is %v, error %v", spec.Name, what, write, err)
	}
}

// wrapped is the algorithm with another machine around each of its own.
func wrapped(spec algorithm.Spec, wrap func(self algorithm.ID, v algorithm.View, m algorithm.Machine) algorithm.Machine) algorithm.Spec {
	plan := spec.Plan
	spec.Plan = func(n int) (algorithm.Birth, error) {
		birth, err := plan(n)
		return func(self algorithm.ID, v algorithm.View) algorithm.Machine { return wrap(self, v, birth(self, v)) }, err
	}
	return spec
}

// longState writes its state otherwise.
type longState struct{ algorithm.Machine }

func longerState(_ algorithm.ID, _ algorithm.View, m algorithm.Machine) algorithm.Machine {
	return longState{m}
}

func (l longState) AppendState(b []byte) []byte { return append(l.Machine.AppendState(b), 0) }

// longMessages writes its messages otherwise, and its state as before.
type longMessages struct{ algorithm.Machine }

func longerMessages(self algorithm.ID, v algorithm.View, m algorithm.Machine) algorithm.Machine {
	return sameState{algorithm.New(self, v, &longMessages{m}), m}
}

// sameState is a machine with the state of the one within it.
type sameState struct {
	algorithm.Machine
	inner algorithm.Machine
}

func (s sameState) AppendState(b []byte) []byte { return s.inner.AppendState(b) }

// A longMessage is a message of Naimi and Trehel's with its length.
type longMessage struct {
	Kind  uint8
	Inner []byte
}

func (m *longMessage) Fields(c *algorithm.Coder) {
	c.Kind(&m.Kind, 1)
	c.Bytes("inner", &m.Inner)
}

func (l *longMessages) Fields(c *algorithm.Coder) { c.Inner("inner", l.Machine, nil) }

func (l *longMessages) Request(out *algorithm.Out[longMessage]) {
	l.relay(host.Input{Kind: host.Request}, out)
}

func (l *longMessages) Release(out *algorithm.Out[longMessage]) {
	l.relay(host.Input{Kind: host.Release}, out)
}

func (l *longMessages) Receive(from algorithm.ID, m *longMessage, out *algorithm.Out[longMessage]) {
	l.relay(host.Input{Kind: host.Receive, From: from, Bytes: m.Inner}, out)
}

func (l *longMessages) relay(in host.Input, out *algorithm.Out[longMessage]) {
	var o host.Output
	if err := l.Machine.Step(in, &o); err != nil {
		out.Fail(err)
	}
	for i, s := range o.Sends {
		out.Send(s.To, longMessage{s.Kind, bytes.Clone(o.Bytes(i))})
	}
	if o.Entered {
		out.Enter()
	}
}
