package main

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// module has a section that is left alone, and these pieces of data.
func module(pieces ...piece) []byte {
	data := write(pieces)
	m := append([]byte(magic), 1, 2, 0x60, 0x40)
	return append(append(m, dataSection, byte(len(data))), data...)
}

func TestJoined(t *testing.T) {
	pieces := []piece{{100_000, []byte("far")}, {64, []byte("one")}, {70, []byte("two")}, {73, []byte("three")}, {63, []byte("0")}}
	got, err := joined(module(pieces...))
	want := module(piece{63, []byte("0one\x00\x00\x00twothree")}, piece{100_000, []byte("far")})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// Numbers come back as they were, those at the edge of another byte too.
func TestNumbers(t *testing.T) {
	for _, x := range []uint64{0, 1, 63, 64, 127, 128, 8191, 8192, 1<<20 - 1, 1<<31 - 1} {
		if got := (&reader{appendNumber(nil, x)}).number(); got != x {
			t.Errorf("%d comes back as %d", x, got)
		}
		b := appendSigned(nil, x)
		if got := (&reader{slices.Clone(b)}).number(); got != x || b[len(b)-1]&0x40 != 0 {
			t.Errorf("%d comes back as %d, or as less than nothing: %x", x, got, b)
		}
	}
}

func TestNoModule(t *testing.T) {
	good := module(piece{64, []byte("one")})
	for n := range len(good) {
		if n == len(magic) || n == len(magic)+4 { // between sections
			continue
		}
		if _, err := joined(good[:n]); !errors.Is(err, errModule) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
	for _, bad := range [][]byte{[]byte("#!/bin/sh"), append(slices.Clone(good), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), module(piece{1 << 31, nil})} {
		if _, err := joined(bad); !errors.Is(err, errModule) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}
