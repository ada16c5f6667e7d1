package trace

import (
	"reflect"
	"strings"
	"testing"
)

// Text, picture and JSON say which section a process is in, and for which one
// it waits.
func TestSections(t *testing.T) {
	tr := &Trace{N: 2, Algorithm: "a", Unit: 10, Events: []Event{
		{Step: 0, At: 0, Kind: Ask, Proc: 0, Section: "seats"},
		{Step: 1, At: 0, Kind: Send, Proc: 0, Peer: 1, Msg: 1, Name: "REQUEST", Section: "seats"},
		{Step: 2, At: 20, Kind: Enter, Proc: 0, Section: "seats"},
		{Step: 3, At: 30, Kind: Ask, Proc: 0, Section: "films"},
		{Step: 4, At: 75, Kind: Exit, Proc: 0, Section: "seats"},
		{Step: 5, At: 80, Kind: Enter, Proc: 0, Section: "films"},
		{Step: 6, At: 90, Kind: Violation, Proc: 0, Peer: 1, Name: "mutual-exclusion", Section: "films"},
		{Step: 7, At: 99, Kind: Exit, Proc: 0, Section: "films"},
	}}
	text := tr.Text(TextOptions{})
	for _, want := range []string{
		"P1 asks for seats", "seats REQUEST → P2", "▄     ┊     P1 enters seats", "█     ┊     P1 asks for films",
		"▀     ┊     P1 leaves seats", "VIOLATION of mutual-exclusion in films", "P1 leaves films",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	svg := tr.SVG(Options{})
	for _, want := range []string{"P1 waits for seats", "P1 is inside seats and waits for films", "P1 waits for films", "P1 is inside films", ">seats</text>", ">seats, wants films</text>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	b, err := tr.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ReadJSON(b); err != nil || !reflect.DeepEqual(again.Events, tr.Events) {
		t.Errorf("%v: read back as %+v", err, again)
	}
}
