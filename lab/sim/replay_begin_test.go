package sim

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/lab/scenario"
)

// middle is a run that begins while P1 is inside, P2 waits, and its request is in flight.
const middle = `algorithm ricart-agrawala
processes 3
schedule steps
begin P1 inside
set P1 state HELD
set P1 given none
set P1 clock 4
begin P2 waits
set P2 state WANTED
set P2 clock 5
set P2 asked 5
set P2 missing 1
begin 2 -> 1 REQUEST 0005
`

// begun runs a scenario.
func begun(text string) (*Playback, error) {
	sc, err := scenario.Parse("", text)
	if err != nil {
		return nil, err
	}
	spec, err := catalog.Make(sc.Algorithm, algorithm.Options{})
	if err != nil {
		return nil, err
	}
	return Replay(spec, sc, ReplayOptions{})
}

// A run that begins in the middle is judged from there: what is inside, waits or is in flight
// counts, and what happened before does not.
func TestBeginInTheMiddle(t *testing.T) {
	for _, c := range []struct{ name, lines, violation string }{
		{"goes on", "deliver 2 -> 1 REQUEST\nP1 leaves\ndeliver 1 -> 2 OK\nexpect entries 2\nexpect messages 1\nexpect P2 inside\nexpect bypass 0\n", ""},
		{"ends in flight", "expect entries none\nexpect P1 inside\nexpect P2 waits\n", ""},
		{"asks again", "P1 leaves\nP1 asks\nexpect P1 waits\n", ""},
		{"request lost", "drop 2 -> 1\nP1 leaves\n", "lost-request: P2"},
		{"timed", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := middle + c.lines
			if c.name == "timed" {
				text = strings.Replace(middle, "schedule steps", "hold 3", 1) + "expect P2 enters at 4\nexpect entries 2\n"
			}
			back, err := begun(text)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(back.Differences)
			if c.violation == "" && len(back.Differences) > 0 || !strings.Contains(got, c.violation) {
				t.Errorf("differences %s, want %q", got, c.violation)
			}
		})
	}
}

// Two processes that begin inside violate mutual exclusion; so does one that enters beside
// another.
func TestBeginViolates(t *testing.T) {
	for _, lines := range []string{
		"begin P1 inside\nbegin P2 inside\n",
		"begin P2 inside\nset P1 state HELD\nbegin P1 inside\n",
		"begin P1 inside\nbegin P2 waits\nset P2 state WANTED\nset P2 asked 1\nset P2 missing 1\nbegin 1 -> 2 OK 0101\n\ndeliver 1 -> 2\n",
	} {
		back, err := begun("algorithm ricart-agrawala\nprocesses 2\nschedule steps\n" + lines)
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Violations) == 0 || back.Violations[0].Property != "mutual-exclusion" {
			t.Errorf("%q: violations %v", lines, back.Violations)
		}
	}
}

// What cannot be a beginning is refused, with its line and what would be right.
func TestBeginRefused(t *testing.T) {
	head := "algorithm ricart-agrawala\nprocesses 2\n"
	for lines, want := range map[string]string{
		"begin P1 sleeps":                            "idle, waits or inside",
		"begin P1":                                   "idle, waits or inside",
		"begin P3 waits":                             "no process P3",
		"begin P1 waits zz":                          "hexadecimal",
		"begin P1 waits 0":                           "hexadecimal",
		"begin P1 waits 01 02":                       "",
		"begin P1 waits 01":                          "line 3: begin P1 waits 01: these bytes are not a state of ricart-agrawala among 2 processes",
		"begin P1 waits\nbegin P1 inside":            "another line says how P1 begins",
		"begin 1 -> 1 OK 01":                         "",
		"begin 1 -> 2 OK":                            "hexadecimal",
		"begin 1 -> 2 NO 01":                         `has no message "NO"`,
		"begin 1 -> 2 REQUEST 0105":                  "these are the bytes of OK",
		"begin 1 -> 2 REQUEST 09":                    "these bytes are not a message",
		"begin 1 -> 2 REQUEST 0005ff":                "these bytes are not a message",
		"holder 1 busy\nbegin P1 waits":              "busy holder",
		"section a among 1,2\nbegin P1 waits":        "sections",
		"site 1 P1 P2 L1\nbegin P1 waits":            "transactions do not have this setting",
		"begin P1 waits\nat 1 P1 asks":               "cannot ask: it waits",
		"begin P1 waits 0000000000000000000000":      "not a state",
		"begin P1 inside\nset P1 nothing 4":          "no field",
		"begin P1 idle\nat 1 deliver 1 -> 2 REQUEST": "no message is in flight",
	} {
		if _, err := begun(head + lines + "\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
	spec, err := catalog.Make("ricart-agrawala", algorithm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := spec.New(0, algorithm.View{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	idle := hex.EncodeToString(m.AppendState(nil))
	if _, err := begun(head + "begin P1 waits " + idle + "\n"); err == nil || !strings.Contains(err.Error(), "idle in this state") {
		t.Errorf("a state that disagrees with its word: %v", err)
	}
	if _, err := begun(head + "begin P1 idle " + idle + "\nat 0 P1 asks\nexpect entries 1\n"); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"algorithm bully\nprocesses 2\nbegin P1 idle\n", "algorithm central+bully\nprocesses 2\nbegin P1 idle\n"} {
		if _, err := begun(other); err == nil || !strings.Contains(err.Error(), "only locks whose processes do not crash") {
			t.Errorf("%q: %v", other, err)
		}
	}
}

// Bytes from anywhere are refused, or run as nonsense: no machine panics for them.
func TestBeginWithNonsense(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for _, spec := range catalog.Live() {
		m, err := spec.New(1, algorithm.View{N: 3})
		if err != nil {
			t.Fatal(err)
		}
		state := m.AppendState(nil)
		for range 300 {
			b := append([]byte(nil), state...)
			for range 1 + draw.IntN(3) {
				b[draw.IntN(len(b))] = byte(draw.IntN(6))
			}
			if draw.IntN(4) == 0 {
				b = b[:draw.IntN(len(b))+1]
			}
			message := make([]byte, 1+draw.IntN(6))
			for i := range message {
				message[i] = byte(draw.IntN(8))
			}
			kind := spec.Kinds[min(int(message[0]), len(spec.Kinds)-1)]
			word := []string{"idle", "waits", "inside"}[draw.IntN(3)]
			text := fmt.Sprintf("algorithm %s\nprocesses 3\nschedule steps\nbegin P2 %s %x\nbegin 3 -> 2 %s %x\n\ndeliver 3 -> 2\n", spec.Name, word, b, kind, message)
			if _, err := begun(text); err != nil && strings.Contains(err.Error(), "panic") {
				t.Errorf("%v:\n%s", err, text)
			}
		}
	}
}
