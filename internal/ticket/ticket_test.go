package ticket

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stile-lock/stile/internal/member"
)

func office(cluster uint64, keys ...Key) *Office {
	o := &Office{}
	o.Set(cluster, keys)
	return o
}

func key(epoch uint64) Key { return Key{Epoch: epoch, Secret: [32]byte{byte(epoch), 31: 9}} }

var example = Ticket{Token: member.Token{Epoch: 7, Count: 42}, Last: 4137, Terms: member.Terms{Mode: 2, Units: 5, Tx: 9, Born: 290}, Through: []uint64{448, 513}}

// What is asserted comes back, for the same client and lock only.
func TestCheck(t *testing.T) {
	o := office(9, key(3))
	b := o.AppendTo(nil, &example, "client/web", "orders/42")
	got, err := o.Check(b, "client/web", "orders/42")
	if err != nil || got.Token != example.Token || got.Last != example.Last || got.Terms != example.Terms || !slices.Equal(got.Through, example.Through) {
		t.Errorf("%+v, %v", got, err)
	}
	nameless := example
	nameless.Through = nil
	for what, check := range map[string]func() (Ticket, error){
		"another client":      func() (Ticket, error) { return o.Check(b, "client/web2", "orders/42") },
		"a shifted name":      func() (Ticket, error) { return o.Check(b, "client/webo", "rders/42") },
		"another lock":        func() (Ticket, error) { return o.Check(b, "client/web", "orders/43") },
		"another cluster":     func() (Ticket, error) { return office(8, key(3)).Check(b, "client/web", "orders/42") },
		"another secret":      func() (Ticket, error) { return office(9, Key{Epoch: 3}).Check(b, "client/web", "orders/42") },
		"an unknown key":      func() (Ticket, error) { return office(9, key(4)).Check(b, "client/web", "orders/42") },
		"no key":              func() (Ticket, error) { return office(9).Check(b, "client/web", "orders/42") },
		"through nobody":      func() (Ticket, error) { return o.Check(o.AppendTo(nil, &nameless, "", "x"), "", "x") },
		"a longer ticket":     func() (Ticket, error) { return o.Check(append(b[:len(b):len(b)], 0), "client/web", "orders/42") },
		"nothing":             func() (Ticket, error) { return o.Check(nil, "client/web", "orders/42") },
		"more than a ticket":  func() (Ticket, error) { return o.Check(make([]byte, MaxBytes+1), "client/web", "orders/42") },
		"only zeros":          func() (Ticket, error) { return o.Check(make([]byte, 40), "client/web", "orders/42") },
		"only the code":       func() (Ticket, error) { return o.Check(b[len(b)-codeBytes:], "client/web", "orders/42") },
		"without the last 16": func() (Ticket, error) { return o.Check(b[:len(b)-codeBytes], "client/web", "orders/42") },
	} {
		if got, err := check(); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
	for i := range b {
		for _, bit := range []byte{1, 128} {
			forged := bytes.Clone(b)
			forged[i] ^= bit
			if got, err := o.Check(forged, "client/web", "orders/42"); err == nil {
				t.Errorf("byte %d changed: %+v", i, got)
			}
		}
	}
}

// Members use a key that all of them have had since the change before, and accept the one
// before that. Only another key in use makes new tickets necessary.
func TestRekey(t *testing.T) {
	var keys []Key
	offices := map[int]*Office{}
	o := &Office{}
	used := []bool{true, false, true, true, true}
	for i := range used {
		keys = slices.Insert(keys, 0, key(uint64(i+1)))
		keys = keys[:min(len(keys), MaxKeys)]
		if changed := o.Set(9, keys); changed != used[i] {
			t.Errorf("with %d keys: changed %v", i+1, changed)
		}
		if o.Set(9, keys) {
			t.Errorf("with the same %d keys: changed", i+1)
		}
		offices[i] = office(9, keys...)
	}
	for i, from := range offices {
		b := from.AppendTo(nil, &example, "", "x")
		for j, to := range offices {
			near := i-j <= 1 && j-i <= 1
			if _, err := to.Check(b, "", "x"); err != nil && near {
				t.Errorf("made with the keys of change %d, checked with those of %d: %v", i, j, err)
			} else if err == nil && j-i > 2 {
				t.Errorf("made with the keys of change %d, and good in change %d", i, j)
			}
		}
	}
	if b := (&Office{}).AppendTo(nil, &example, "", "x"); len(b) > 0 {
		t.Errorf("without a key: %x", b)
	}
}

// The longest ticket fits.
func TestLongest(t *testing.T) {
	x := Ticket{Token: member.Token{Epoch: 1 << 56, Count: 1 << 40}, Last: 1<<40 + 4096, Terms: member.Terms{Mode: 1, Units: member.MaxUnits, Tx: math.MaxUint64, Born: math.MaxUint64}}
	for i := range uint64(40) {
		x.Through = Named(x.Through, 1<<62+i)
	}
	if len(x.Through) != MaxThrough || x.Through[MaxThrough-1] != 1<<62+39 {
		t.Errorf("through %v", x.Through)
	}
	x.Through = Named(x.Through, x.Through[3])
	if len(x.Through) != MaxThrough || x.Through[MaxThrough-1] != 1<<62+31 {
		t.Errorf("through %v", x.Through)
	}
	o := office(math.MaxUint64, key(1<<56))
	b := o.AppendTo(nil, &x, "client/web", "x")
	if _, err := o.Check(b, "client/web", "x"); err != nil || len(b) > MaxBytes {
		t.Errorf("%d bytes: %v", len(b), err)
	}
	t.Logf("the longest ticket has %d bytes", len(b))
	c := Ticket{Token: member.Token{Epoch: 1_800_000_000_000, Count: 99}, Last: 99, Through: []uint64{64 * 1_800_000_000_000}}
	t.Logf("a usual one has %d bytes", len(office(9, key(1_800_000_000_000)).AppendTo(nil, &c, "client/web", "x")))
}

// A ticket costs no memory.
func BenchmarkAppend(b *testing.B) {
	o := office(9, key(3))
	buf := make([]byte, 0, MaxBytes)
	x := example
	b.ReportAllocs()
	for b.Loop() {
		buf = o.AppendTo(buf[:0], &x, "client/web", "orders/42")
	}
}
