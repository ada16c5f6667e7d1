package calls

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/lab/internal/document"
)

// Texts that numbers are tried on.
const (
	aLock  = `"algorithm lamport\nprocesses 3\nat 0 P1 asks\nat 0.1 P2 asks\n"`
	aVote  = `"algorithm bully\nprocesses 3\nat 0 crash P3\nat 2 P1 asks\n"`
	aTrade = `"algorithm none\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nat 0 P1 takes L1\n"`
)

// A field is a number of a call: which are right, and which are refused.
type field struct {
	body        string // of the call, with # for the number
	good, wrong []string
}

// fields are all numbers of all calls, by the name of the call and the keys that lead
// to them.
func fields() map[string]field {
	act := func(deed string) string { return `{"text":` + aLock + `,"event":3,"deed":` + deed + `}` }
	const most, less = "9223372036854775807", "-9223372036854775808"
	return map[string]field{
		"act event":         {`{"text":` + aLock + `,"event":#,"deed":{"verb":"ask","proc":2}}`, []string{"0", "3", "100000", most}, []string{"-1", less}},
		"act deed.proc":     {act(`{"verb":"pause","proc":#}`), []string{"0", "2"}, []string{"-1", "3", most, less}},
		"act deed.to":       {act(`{"verb":"suspect","proc":0,"to":#}`), []string{"1", "2"}, []string{"-1", "0", "3", most, less}},
		"act deed.msg":      {act(`{"verb":"drop","msg":#}`), []string{"1", "2"}, []string{"0", "-1", "77", most, less}},
		"act deed.by":       {act(`{"verb":"delay","msg":1,"by":#}`), []string{"0", "0.5", "1000", "1e9"}, []string{"-1", "1e-9", "1e10", "1e300", "-1e300"}},
		"act deed.for":      {act(`{"verb":"ask","proc":2,"for":#}`), []string{"0", "0.5", "1e9"}, []string{"-1", "1e-9", "1e10", "1e300", "-1e300"}},
		"act deed.parts":    {act(`{"verb":"partition","parts":[[#]]}`), []string{"0", "2"}, []string{"-1", "3", most, less}},
		"act deed.timer":    {`{"text":` + aVote + `,"event":9,"deed":{"verb":"expire","proc":0,"timer":#}}`, []string{"0"}, []string{"-1", "7", most, less}},
		"act deed.locks":    {`{"text":` + aTrade + `,"event":0,"deed":{"verb":"take","proc":3,"locks":[#]}}`, []string{"0", "1"}, []string{"-1", "2", most, less}},
		"fresh processes":   {`{"algorithm":"lamport","processes":#}`, []string{"0", "3", "400"}, []string{"-1", "401", "100000", most, less}},
		"fresh k":           {`{"algorithm":"dijkstra","k":#}`, []string{"0", "3", "1000000"}, []string{"-1", most, less}},
		"fresh coordinator": {`{"algorithm":"central","coordinator":#}`, []string{"0", "3"}, []string{"-1", "4", most, less}},
		"fresh patience":    {`{"algorithm":"central+bully","patience":#}`, []string{"0", "100", "1000000"}, []string{"-1", most, less}},
		"fresh seed":        {`{"algorithm":"central","seed":#}`, []string{"0", "7", "18446744073709551615"}, []string{"-1", "18446744073709551616"}},
		"check limits.requests": {`{"text":"algorithm central\nprocesses 2\n","limits":{"requests":#}}`, []string{"-1", "0", "1", "3"},
			[]string{"-2", "256", most, less}},
		"check limits.seconds": {`{"text":"algorithm central\nprocesses 2\n","limits":{"seconds":#}}`, []string{"0", "0.5", "60"}, []string{"-1", "-0.001", "61", "1e300", "-1e300"}},
		"check limits.crashes": {`{"text":"algorithm bully\nprocesses 2\n","limits":{"crashes":#}}`, []string{"0", "1", "15"}, []string{"-1", "16", most, less}},
		"compare n":            {`{"algorithms":["central"],"entries":5,"n":[#]}`, []string{"1", "64"}, []string{"-1", "0", "65", most, less}},
		"compare rest":         {`{"algorithms":["central"],"entries":5,"n":[3],"rest":[#]}`, []string{"0", "0.5", "1e6"}, []string{"-1", "1e7", "1e300", "-1e300"}},
		"compare hold":         {`{"algorithms":["central"],"entries":5,"n":[3],"hold":[#]}`, []string{"0", "0.5", "1e6"}, []string{"-1", "1e7", "1e300", "-1e300"}},
		"compare entries":      {`{"algorithms":["central"],"n":[3],"entries":#}`, []string{"1", "2000"}, []string{"-1", "0", "2001", most, less}},
		"compare seed":         {`{"algorithms":["central"],"entries":5,"n":[3],"seed":#}`, []string{"0", "18446744073709551615"}, []string{"-1", "18446744073709551616"}},
	}
}

// numbers lists the keys that lead to numbers, and which of them are whole.
func numbers(t reflect.Type, path string, all map[string]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k == reflect.Struct:
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			numbers(f.Type, strings.TrimPrefix(path+"."+key, "."), all)
		}
	case k >= reflect.Int && k <= reflect.Float64:
		all[path] = k < reflect.Float32
	}
}

// TestEveryNumberIsBounded: whatever number stands in a call, the answer is right or
// says in words what is wanted; and no number of a call is forgotten here.
func TestEveryNumberIsBounded(t *testing.T) {
	whole := map[string]bool{}
	for name, in := range map[string]any{"run": runCall{}, "act": actCall{}, "fresh": document.Wish{}, "export": exportCall{}, "check": checkCall{}, "compare": compareCall{}} {
		found := map[string]bool{}
		numbers(reflect.TypeOf(in), "", found)
		for path, is := range found {
			whole[name+" "+path] = is
		}
	}
	all := fields()
	if got, want := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(whole)); !slices.Equal(got, want) {
		t.Fatalf("tried are %q, but there are %q", got, want)
	}
	for key, f := range all {
		name, _, _ := strings.Cut(key, " ")
		try := func(number string, right bool) {
			c := &Calls{Workers: 1, Time: time.Minute}
			body := strings.Replace(f.body, "#", number, 1)
			said := lines(t, c, name, body)
			last := string(said[len(said)-1])
			if refused := strings.HasPrefix(last, `{"error"`); refused == right {
				t.Errorf("%s of %s: %.300s", key, number, last)
			} else if refused && !inWords(last) {
				t.Errorf("%s of %s is refused by %s", key, number, last)
			}
		}
		for _, n := range f.good {
			try(n, true)
		}
		never := []string{"1e400", "-1e400", "NaN", `"NaN"`, "Infinity", "1e", "[]", "{}", `"1"`}
		if whole[key] {
			never = append(never, "0.5", "-0.5", "1e30", "-1e30", "99999999999999999999")
		}
		for _, n := range slices.Concat(f.wrong, never) {
			try(n, false)
		}
	}
}

// inWords reports whether an answer says what is wrong to people.
func inWords(answer string) bool {
	var a struct {
		Error document.Error `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		return false
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(a.Error.Text, w) })
	}
	return says("want ", "there are lanes", "no timer", "at most", "step to where it is") && !says("panic", "runtime", "Go value", "strconv")
}

// TestManyAtOnce: lists are bounded as numbers are.
func TestManyAtOnce(t *testing.T) {
	many := func(s string, n int) string { return "[" + strings.TrimSuffix(strings.Repeat(s+",", n), ",") + "]" }
	for _, c := range []struct{ name, body, want string }{
		{"compare", fmt.Sprintf(`{"algorithms":%s}`, many(`"central"`, 100_000)), "100000 algorithms to compare: want at most 64"},
		{"compare", fmt.Sprintf(`{"n":%s}`, many("3", 100_000)), "points to compare: want at most 64"},
		{"compare", fmt.Sprintf(`{"n":[3],"rest":%s,"hold":%s}`, many("1", 100_000), many("1", 100_000)), "points to compare: want at most 64"},
		{"act", fmt.Sprintf(`{"text":%s,"event":0,"deed":{"verb":"take","proc":3,"locks":%s}}`, aTrade, many("0", 300_000)), "L1 is named twice"},
		{"act", fmt.Sprintf(`{"text":%s,"event":0,"deed":{"verb":"partition","parts":%s}}`, aLock, many("[0]", 300_000)), "want each process at most once"},
		{"act", fmt.Sprintf(`{"text":%s,"event":0,"deed":{"verb":"partition","parts":%s}}`, aLock, many("[]", 300_000)), "name the processes of a part"},
	} {
		said := lines(t, &Calls{Workers: 1}, c.name, c.body)
		if last := string(said[len(said)-1]); !strings.HasPrefix(last, `{"error"`) || !strings.Contains(last, c.want) {
			t.Errorf("%s %.60s: %.300s, want %q", c.name, c.body, last, c.want)
		}
	}
}
