package member

import (
	"testing"

	"github.com/stile-lock/stile/catalog"
	"github.com/stile-lock/stile/core"
)

// alone returns a member in a view of n, leased for ever, and a name whose home
// it is, or is not.
func alone(b testing.TB, alg string, n int, home bool) (*Member, string) {
	m, err := New(Config{Inc: 1, Settings: Usual(), Spec: func(name string, _ int) (core.Spec, error) { return catalog.Make(name, core.Options{}) }})
	if err != nil {
		b.Fatal(err)
	}
	v := View{Epoch: 1, Choices: []Choice{{"", alg, 0}}}
	for i := range n {
		v.Members = append(v.Members, Who{"m", uint64(i + 1)})
	}
	m.lease = Never - 1
	if err := m.Install(0, v); err != nil {
		b.Fatal(err)
	}
	for i := byte('a'); ; i++ {
		if name := "lock-" + string(i); (v.Home(hashName(name)) == 0) == home {
			return m, name
		}
	}
}

// BenchmarkLocal is a lock and an unlock that need no message: at a home that
// has not let go, and where the token is.
func BenchmarkLocal(b *testing.B) {
	b.Run("home", func(b *testing.B) {
		m, name := alone(b, "naimi-trehel", 3, true)
		run(b, m, name)
	})
	b.Run("token", func(b *testing.B) {
		m, name := alone(b, "naimi-trehel", 3, true)
		m.about(lockOf(m.epoch, name), 1, &frame{kind: touchFrame}) // the home lets go
		m.Out.Reset()
		run(b, m, name)
	})
}

func run(b *testing.B, m *Member, name string) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Lock(1, name, Ask{Deadline: Never}); err != nil {
			b.Fatal(err)
		}
		if len(m.Out.Events) != 1 || m.Out.Events[0].Kind != Held {
			b.Fatal("not held")
		}
		t := m.Out.Events[0].Token
		m.Out.Reset()
		if err := m.Unlock(1, name, t); err != nil {
			b.Fatal(err)
		}
	}
	if len(m.Out.Frames) > 0 {
		b.Fatal("it cost messages")
	}
}
