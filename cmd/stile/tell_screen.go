package main

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/stile-lock/stile/trace"
)

// A Screen is what a command writes to. If it is to be ASCII, each other
// character becomes one that is, so that columns stay where they are.
type Screen struct {
	ASCII bool
	w     io.Writer
	begun []byte // of a character whose end is still to come
}

// NewScreen returns a screen that writes to w.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	if !s.ASCII {
		return s.w.Write(b)
	}
	text := append(s.begun, b...)
	end := len(text)
	for i := 1; i <= min(end, utf8.UTFMax); i++ {
		if r := text[end-i]; utf8.RuneStart(r) {
			if !utf8.FullRune(text[end-i:]) {
				end -= i
			}
			break
		}
	}
	s.begun = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(s.w, trace.ASCII(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unicode reports whether the locale is one whose terminals show more than
// ASCII. Who has said nothing of a locale is taken to have such a terminal.
func Unicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}
