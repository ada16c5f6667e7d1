package child

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	const s, now = time.Second, Moment(100 * time.Second)
	for _, test := range []struct{ left, grace, end, kill time.Duration }{
		{10 * s, 2 * s, 7800 * time.Millisecond, 9800 * time.Millisecond},
		{9 * s, 60 * s, 5800 * time.Millisecond, 8800 * time.Millisecond}, // no renewal in the first two thirds is too late
		{s, 0, 900 * time.Millisecond, 900 * time.Millisecond},
		{0, s, 0, 0},
		{-s, s, -s, -s},
	} {
		end, kill := plan(now, now.Add(test.left), test.grace)
		if end != now.Add(test.end) || kill != now.Add(test.kill) {
			t.Errorf("%v left, grace %v: end after %v, kill after %v; want %v and %v", test.left, test.grace, end.Sub(now), kill.Sub(now), test.end, test.kill)
		}
		if test.left > 0 && kill >= now.Add(test.left) {
			t.Errorf("%v left: nothing is kept for the end", test.left)
		}
	}
	if end, kill := plan(now, 0, s); end != 0 || kill != 0 {
		t.Errorf("without a lease there is an end: %v, %v", end, kill)
	}
}

func TestLease(t *testing.T) {
	l := NewLease(5)
	l.Extend(4)
	if l.Until() != 5 || len(l.changed) != 0 {
		t.Errorf("it got shorter: %v", l.Until())
	}
	l.Extend(6)
	l.Extend(7)
	if l.Until() != 7 || len(l.changed) != 1 {
		t.Errorf("it is until %v, told %d times", l.Until(), len(l.changed))
	}
	for _, test := range [][3]Moment{{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}} {
		if got := earlier(test[0], test[1]); got != test[2] {
			t.Errorf("of %v and %v %v is earlier", test[0], test[1], got)
		}
	}
}

func TestCode(t *testing.T) {
	if Code(3, 0) != 3 || Code(0, syscall.SIGKILL) != 137 {
		t.Errorf("%d, %d", Code(3, 0), Code(0, syscall.SIGKILL))
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		args  []string
		shell bool
		env   []string
		want  []string
	}{
		{[]string{"ls", "-l"}, false, nil, []string{"ls", "-l"}},
		{[]string{"ls -l"}, true, nil, []string{"/bin/sh", "-c", "ls -l"}},
		{[]string{"ls -l"}, true, []string{"SHELL=/bin/zsh"}, []string{"/bin/zsh", "-c", "ls -l"}},
		{[]string{"ls -l"}, true, []string{"SHELL="}, []string{"/bin/sh", "-c", "ls -l"}},
		{[]string{"ls", "-l"}, true, nil, nil},
		{[]string{""}, false, nil, nil},
		{nil, false, nil, nil},
	} {
		got, err := arguments(test.args, test.shell, test.env)
		if !slices.Equal(got, test.want) || (err != nil) != (test.want == nil) {
			t.Errorf("%q, shell %v: %q, %v; want %q", test.args, test.shell, got, err, test.want)
		}
	}
	got := Environ([]string{"A=1", "STILE_LOCK=old", "STILE_LOCKS=x", "STILE_TOKEN=3"}, Lock{"disk", "7"}, Lock{"a", "5"})
	if want := []string{"A=1", "STILE_LOCKS=x", "STILE_LOCK=disk", "STILE_TOKEN=7", `STILE_TOKENS={"a":"5","disk":"7"}`, `STILE_HELD=["disk","a"]`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = Environ(LeaderEnviron(got, Lock{"STILE_LOCK", "8"}), Lock{"x\n\"", "9"})
	if want := []string{"A=1", "STILE_LOCKS=x", "STILE_ELECTION=STILE_LOCK", "STILE_TERM=8", "STILE_LOCK=x\n\"", "STILE_TOKEN=9", `STILE_TOKENS={"x\n\"":"9"}`, `STILE_HELD=["disk","a","STILE_LOCK","x\n\""]`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if held := Held(got); !slices.Equal(held, []string{"disk", "a", "STILE_LOCK", "x\n\""}) {
		t.Errorf("%q", held)
	}
	if held := Held([]string{"STILE_HELD=disk"}); held != nil {
		t.Errorf("%q", held)
	}
}
