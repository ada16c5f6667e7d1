package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// modes are calls of commands in each way that they have; they are quick.
const modes = `sim raymond --entries 20
sim lamport --think exp:5 --entries 20
sim ricart-agrawala --section a:1,2 --section b:2,3 --entries 20
sim sanders --nodes 3 --entries 20 --latency exp:1
sim central+bully --entries 20
sim bully --dead 5
sim chang-roberts --starters 1,2
check lamport --nodes 2 --requests 1
check raymond --nodes 3 --requests 1
check sanders --nodes 2 --requests 1
check dijkstra --nodes 3 --requests 1
check chang-roberts --nodes 3
check central+bully --nodes 2
check wait-die --requests 1
check dijkstra --shared one --nodes 3
check --museum
check --faults
check raymond --fault waiting
check central --fault idle --at 2,3
compare raymond lamport --nodes 3 --entries 20 --think 0 --hold 1
compare --deadlock wait-die none --nodes 3 --entries 20
deadlock wait-die --transactions 20
deadlock detect-central --transactions 20
deadlock none --philosophers
bank
bank --lock none
bank --json
bank --crash 1
bank --machines 3 --crash 3 --lock ricart-agrawala+bully
scene seats
scene ids --lock none
scene tasks --json
storm --seeds 3
storm --seed 4
storm --seed 4 --bank
replay scenarios/raymond-a.stile
replay scenarios/none-ring.stile
replay scenarios/graph-cycle.stile
replay small.rec
bench --time 1ms --idle 1ms --clients 1
cert ca
cert node db1 --host 127.0.0.1 --dir authority
algorithms
version`

// samples are values of flags that their types do not tell; of each, one must
// have an effect.
var samples = map[string][]string{
	"section": {"c:1,2"}, "requesters": {"1", "2"}, "dead": {"2"}, "starters": {"2"}, "sets": {"1:1,2;2:1,2"}, "inform": {"1:1,2;2:1,2"},
	"crash": {"2@5", "1", "1@late"}, "at": {"1", "2"}, "property": {"deadlock", "agreement"}, "start": {"2", "2:busy"}, "lock": {"none", "raymond"}, "topology": {"star", "central", "down"},
	"time": {"50s"}, "from": {"1"}, "to": {"9"}, "crashes": {"0", "1"}, "hot": {"90"}, "requests": {"1", "2"}, "dir": {"sub"}, "host": {"db1"},
}

// unseen are flags whose effect is not to be seen in what is small: limits, and
// leave to do what would be refused.
var unseen = strings.Fields("workers memory time experiment force")

// values are what a flag can be set to.
func values(c *cobra.Command, f *pflag.Flag) []string {
	if v, ok := samples[f.Name]; ok {
		return v
	}
	if e := endings(c, f); e != nil {
		return []string{"new." + e[0]}
	}
	if typed, ok := f.Value.(completingFlag); ok {
		words, _ := typed.complete(c, nil, "")
		return words
	}
	return map[string][]string{
		"bool": {"true"}, "N": {"2", "3", "9"}, "TIME": {"exp:2"}, "LIST": {"2"}, "TIMES": {"2"}, "SIZE": {"1GiB"},
	}[f.Value.Type()]
}

var clock = regexp.MustCompile(`(?m)^time .*$|^probability .*$`)

// effect is what can be seen of a command.
func effect(t *testing.T, args []string) string {
	before := disk(t)
	_, stdout, stderr := stile(args...)
	for path := range disk(t) {
		if _, was := before[path]; !was {
			stderr += path
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if args[0] == "check" {
		stdout = clock.ReplaceAllString(stdout, "")
	}
	return stdout + stderr
}

// ignored returns the flags that can be given to a call and have no effect: they
// are neither refused nor change what is said or written, and are not among those
// of which nothing can be seen.
func ignored(t *testing.T, call, unseen []string) []string {
	c, _, err := newRoot().Find(call)
	if err != nil {
		t.Fatal(err)
	}
	plain := effect(t, call)
	var found []string
	for _, f := range flags(c) {
		if slices.Contains(unseen, f.Name) || slices.Contains(call, "--"+f.Name) && f.Name != "section" && f.Name != "host" {
			continue
		}
		all := values(c, f)
		if len(all) == 0 {
			t.Errorf("--%s of stile %s: there is no sample of what it can be set to", f.Name, c.Name())
		}
		if !slices.ContainsFunc(all, func(v string) bool { return effect(t, append(call[:len(call):len(call)], "--"+f.Name+"="+v)) != plain }) {
			found = append(found, f.Name)
		}
	}
	return found
}

// Every flag of every command, in each way that it has, does something or is
// refused.
func TestNothingIsIgnored(t *testing.T) {
	t.Chdir(newDesk(t))
	if err := errors.Join(os.Remove("huge.stile"), os.Mkdir("authority", 0o777)); err != nil {
		t.Fatal(err)
	}
	ok(t, "cert ca --dir authority")
	for line := range strings.Lines(modes) {
		call := strings.Fields(line)
		if slices.Contains(call, "--museum") || slices.Contains(call, "--faults") {
			onlyLimits(t, call)
			continue
		}
		for _, flag := range ignored(t, call, unseen) {
			t.Errorf("stile %s: --%s is ignored", strings.TrimSpace(line), flag)
		}
	}
}

// A flag that changes nothing is found.
func TestIgnoredIsFound(t *testing.T) {
	t.Chdir(newDesk(t))
	if got := ignored(t, strings.Fields("sim sanders --nodes 3 --entries 5"), nil); !slices.Equal(got, []string{"experiment"}) {
		t.Errorf("leave to break rules that nobody breaks changes nothing, but found %q", got)
	}
}

// onlyLimits wants all flags refused but the limits. A page takes long.
func onlyLimits(t *testing.T, call []string) {
	c, _, err := newRoot().Find(call)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.TrimPrefix(call[1], "--")
	for _, f := range flags(c) {
		if slices.Contains([]string{page, "workers", "memory"}, f.Name) {
			continue
		}
		args := append(call[:len(call):len(call)], "--"+f.Name+"="+values(c, f)[0])
		b := bad{"not for a page", args, []string{"--" + f.Name, "does not fit --" + page}}
		if slices.Contains([]string{"museum", "proofs", "proofs-long", "faults"}, f.Name) {
			b.names = []string{"does not fit"}
		}
		for _, wrong := range complaints(b, try(t, b)) {
			t.Errorf("stile %q: %s", args, wrong)
		}
	}
}
