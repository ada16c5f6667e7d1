package transport

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func someHello() *Hello {
	return &Hello{Min: 1, Max: 3, Name: "db1", Addr: "10.0.0.5:7420", Nonce: 1 << 63, Extra: []byte("cluster")}
}

func TestHello(t *testing.T) {
	for _, change := range []func(h *Hello){
		func(*Hello) {}, func(h *Hello) { h.Extra = []byte{} }, func(h *Hello) { h.Extra = make([]byte, MaxExtra) },
		func(h *Hello) { h.Name = strings.Repeat("ü", MaxName/2) }, func(h *Hello) { h.Addr = "[::1]:7420" },
		func(h *Hello) {
			h.Addr = strings.Repeat("x", MaxName-2) + ":1"
			h.Name = strings.Repeat("n", MaxName)
			h.Extra = make([]byte, MaxExtra)
		},
	} {
		want := someHello()
		change(want)
		b := want.append(nil)
		got, version, err := decodeHello(b, &Hello{Min: 2, Max: 9})
		if err != nil || version != 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came out as %+v, version %d, %v", want, got, version, err)
		}
		if len(b) > maxHello {
			t.Errorf("a Hello of %d bytes", len(b))
		}
		for n := range len(b) {
			if _, _, err := decodeHello(b[:n], want); err == nil {
				t.Errorf("%d of %d bytes are fine", n, len(b))
			}
		}
	}
}

func TestBadHello(t *testing.T) {
	for want, change := range map[string]func(h *Hello){
		"versions 0 to 3":     func(h *Hello) { h.Min = 0 },
		"versions 4 to 3":     func(h *Hello) { h.Min = 4 },
		`name ""`:             func(h *Hello) { h.Name = "" },
		`name "a\nb"`:         func(h *Hello) { h.Name = "a\nb" },
		`name "\xff"`:         func(h *Hello) { h.Name = "\xff" },
		"name \"nnnn":         func(h *Hello) { h.Name = strings.Repeat("n", MaxName+1) },
		`address ""`:          func(h *Hello) { h.Addr = "" },
		`address "here"`:      func(h *Hello) { h.Addr = "here" },
		`address ":7420"`:     func(h *Hello) { h.Addr = ":7420" },
		`address "10.0.0.5:"`: func(h *Hello) { h.Addr = "10.0.0.5:" },
		`address "\x1b:1"`:    func(h *Hello) { h.Addr = "\x1b:1" },
		"8193 extra bytes":    func(h *Hello) { h.Extra = make([]byte, MaxExtra+1) },
		"5 to 6, this one 1 ": func(h *Hello) { h.Min, h.Max = 5, 6 },
	} {
		h := someHello()
		change(h)
		_, _, err := decodeHello(h.append(nil), someHello())
		says(t, err, want)
	}
	_, _, err := decodeHello(append(someHello().append(nil), 0), someHello())
	says(t, err, "1 bytes after")
	// Of a version that is not known here, nothing but the versions is read.
	_, _, err = decodeHello([]byte{0, 7, 0, 9, 1, 2, 3}, someHello())
	says(t, err, "7 to 9, this one 1 to 3")
}

func TestAgree(t *testing.T) {
	for _, c := range []struct{ aMin, aMax, bMin, bMax, want uint16 }{
		{1, 1, 1, 1, 1}, {1, 3, 2, 5, 3}, {2, 5, 1, 3, 3}, {1, 2, 3, 4, 0}, {3, 4, 1, 2, 0}, {1, 9, 4, 4, 4},
	} {
		got, err := agree(&Hello{Min: c.aMin, Max: c.aMax}, c.bMin, c.bMax)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}

// What a refusal says can be shown.
func TestReason(t *testing.T) {
	for in, want := range map[string]string{"a b": "a b", "a\x1b[2J\n": `a\x1b[2J\n`, "\xff": `\xff`, strings.Repeat("x", 2*maxReason): strings.Repeat("x", maxReason)} {
		if got := reason([]byte(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// A Hello is what its bytes are, and nothing else is one.
func FuzzHello(f *testing.F) {
	f.Add(someHello().append(nil))
	f.Add((&Hello{Min: 9, Max: 9}).append(nil))
	f.Add([]byte{0, 1, 0, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, version, err := decodeHello(b, someHello())
		var m *Malformed
		var o *outdated
		switch {
		case err == nil && (!bytes.Equal(h.append(nil), b) || version < h.Min || version > h.Max || h.check() != nil):
			t.Errorf("%x is %+v, version %d", b, h, version)
		case err != nil && !errors.As(err, &m) && !errors.As(err, &o):
			t.Errorf("%x: %v", b, err)
		}
	})
}
