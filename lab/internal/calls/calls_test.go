package calls

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/mutex"
	"github.com/stile-lock/stile/lab/internal/document"
	"github.com/stile-lock/stile/lab/scenario"
	"github.com/stile-lock/stile/lab/sim"
	"github.com/stile-lock/stile/lab/trace"
)

// call makes a call, and returns the last line of the answer and how many there
// are.
func call(t *testing.T, name, body string) (string, int) {
	t.Helper()
	last, n := "", 0
	err := (&Calls{}).Call(context.Background(), name, []byte(body), func(line []byte) error {
		last, n = string(line), n+1
		if !json.Valid(line) || strings.Contains(last, "\n") {
			t.Errorf("%s: %q is no line of JSON", name, line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return last, n
}

func TestCalls(t *testing.T) {
	const text = `"algorithm raymond\nprocesses 3\nat 0 P2 asks\n"`
	for _, c := range []struct{ name, body, want string }{
		{"start", `{}`, `{"text":""}`},
		{"run", `{"text":` + text + `}`, `"kind":"lock"`},
		{"run", `{"text":` + text + `,"spacing":"event"}`, `"layout":`},
		{"run", `{"text":"algorithm raymond\nprocesses x\n"}`, `{"error":{"line":2,"col":11,"text":`},
		{"run", `{"text":"title <script>\nalgorithm raymond\nprocesses 2\n"}`, `<script>`},
		{"run", `{"text":"algorithm raymond\nprocesses 2\nat 1 P1 leaves\n"}`, `{"error":{"line":3,"col":0,"text":"P1 leaves: P1 cannot leave`},
		{"run", `{"txt":1}`, `unknown field \"txt\"`},
		{"run", `{"text":1}`, "text cannot be a number"},
		{"act", `{"deed":{"proc":"x"}}`, "deed.proc cannot be a string"},
		{"run", `[]`, "it is not an object"},
		{"gallery", `null`, "it is not an object"},
		{"gallery", `{} trailing`, "it has trailing data"},
		{"gallery", `{}{}`, "it has trailing data"},
		{"gallery", `{`, "unexpected end of input"},
		{"run", `{"text":` + text + `,"spacing":"foo"}`, `unknown spacing \"foo\": want event or time`},
		{"ran", `{}`, "did you mean run?"},
		{"act", `{"text":` + text + `,"event":1,"deed":{"verb":"ask","proc":2}}`, `at 0.1 P3 asks`},
		{"act", `{"text":` + text + `,"event":1,"deed":{"verb":"leave","proc":2}}`, `P3 cannot leave`},
		{"fresh", `{"algorithm":"maekawa","processes":9,"workload":"all"}`, `at 0.8 P9 asks`},
		{"fresh", `{"algorithm":"wait-die","processes":2,"workload":"all"}`, `P2 takes L2 L1`},
		{"fresh", `{"algorithm":"x\nprocesses 3"}`, `want one word`},
		{"fresh", `{"algorithm":"two words"}`, `algorithm \"two words\": want`},
		{"gallery", ``, `The bank that loses 10,000`},
		{"algorithms", ``, `"name":"wound-wait"`},
		{"export", `{"text":` + text + `,"as":"svg"}`, `image/svg+xml`},
		{"export", `{"text":` + text + `,"as":"shiviz"}`, `raymond.shiviz`},
		{"export", `{"text":` + text + `,"as":"gif"}`, `want svg, shiviz, json, scenario or command`},
		{"export", `{"text":"title The bank: 10,000!\nalgorithm raymond\nprocesses 3\n","as":"command"}`, `"stile-lab replay the-bank-10-000.stile\n"`},
		{"export", `{"text":"title ???\nalgorithm raymond\nprocesses 3\n","as":"scenario"}`, `"file":"scenario.stile"`},
		{"check", `{"text":"algorithm ricart-agrawala\nprocesses 2\n"}`, `"verdict":"holds`},
		{"check", `{"text":"algorithm central\nprocesses 1\n","limits":{"requests":-1}}`, `for 1 process; each process may ask any number of times.`},
		{"check", `{"text":"algorithm bakery-naive\nprocesses 2\nnetwork unordered\n"}`, `schedule steps`},
		{"check", `{"text":"algorithm wait-die\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\n"}`, `"verdict":"holds`},
		{"check", `{"text":"algorithm none\nprocesses 2\nsite 1 P1 P2 L1 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\n"}`, `P1 takes L1 L2; P2 takes L2 L1`},
		{"check", `{"text":"algorithm none\nprocesses 2\nsite 1 P1 P2 L1 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\n"}`, `expect stuck`},
		{"check", `{"text":"algorithm none\nprocesses 2\nsite 1 P1 P2 L1 L2\nat 0 P1 takes L1 L2\nat 0 P2 takes L1 L2\n"}`, `"counterexample":""`},
		{"check", `{"text":"algorithm bully\nprocesses 2\n"}`, `"verdict":"holds`},
		{"check", `{"text":"algorithm bully\nprocesses 3\n","limits":{"crashes":1}}`, `and 1 may crash, at any step. `},
		{"check", `{"text":"algorithm central+bully\nprocesses 2\n","limits":{"crashes":1}}`, `may crash, at any step; messages take no time`},
		{"check", `{"text":"algorithm central\nprocesses 2\n","limits":{"crashes":1}}`, `want 0, or a lock such as central+bully`},
		{"check", `{"text":"processes 2\nresources R1 1\n"}`, `{"error":{"line":2,"col":1,"text":`},
		{"compare", `{"algorithms":["raymond","lamport"],"n":[3],"entries":30}`, `"messages_per_entry"`},
		{"compare", `{"n":[3000]}`, `want 1 to 64`},
	} {
		if got, _ := call(t, c.name, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %.600s, want %s", c.name, c.body, got, c.want)
		}
	}
}

// TestGalleryRuns: every scenario of the gallery runs, and all is as expected.
func TestGalleryRuns(t *testing.T) {
	titles := map[string]bool{}
	for _, shelf := range Gallery() {
		if len(shelf.Items) == 0 || titles[shelf.Title] {
			t.Errorf("nothing is in %q, or it comes twice", shelf.Title)
		}
		titles[shelf.Title] = true
		for _, x := range shelf.Items {
			body, _ := json.Marshal(map[string]string{"text": x.Text})
			if got, _ := call(t, "run", string(body)); strings.HasPrefix(got, `{"error"`) || strings.Contains(got, `"ok":false`) {
				t.Errorf("%s: %.300s", x.File, got)
			}
			if x.Title == "" || strings.HasPrefix(x.Sentence, x.Title) {
				t.Errorf("%s has no title, or says it twice", x.File)
			}
		}
	}
}

// TestGalleryWords: scenarios are found by what they are about, in the languages of the
// glossary.
func TestGalleryWords(t *testing.T) {
	words := map[string]string{}
	for _, shelf := range Gallery() {
		for _, x := range shelf.Items {
			words[x.File] = x.Words
		}
	}
	for file, want := range map[string]string{
		"bank.stile":                   "safety",
		"bakery-choosing.stile":        "Bäckerei-Algorithmus",
		"none-ring.stile":              "zakleszczenie",
		"token-ring.stile":             "żeton",
		"maekawa-naive-three.stile":    "liveness",
		"bully-5-of-8.stile":           "algorytm tyrana",
		"graph-cycle.stile":            "graf przydziału zasobów",
		"ricart-agrawala-clocks.stile": "vektorové hodiny",
		"token-ring-bypass.stile":      "předběhnout",
	} {
		if !strings.Contains("\n"+words[file]+"\n", "\n"+want+"\n") {
			t.Errorf("%s: no %s in %q", file, want, words[file])
		}
	}
	if strings.Contains(words["bully-5-of-8.stile"], "zakleszczenie") {
		t.Errorf("an election is about %q", words["bully-5-of-8.stile"])
	}
}

// What the checker has bounded by itself is not said to be without bound.
func TestCheckedAsBounded(t *testing.T) {
	spec := mutex.Central(0)
	spec.Name, spec.Endless = "endless", "it is said to be"
	var last string
	err := With(spec).Call(t.Context(), "check", []byte(`{"text":"algorithm endless\nprocesses 3\n","limits":{"requests":-1}}`), func(line []byte) error {
		last = string(line)
		return nil
	})
	if err != nil || !strings.Contains(last, "up to 1 request per process, because it is said to be") || !strings.Contains(last, "each process may ask 1 time.") || !strings.Contains(last, `"means":["never two inside, and none without a request",`) {
		t.Errorf("got %v, %s", err, last)
	}
}

// endless is a check that does not come to its end.
const endless = `{"text":"algorithm lamport\nprocesses 4\n","limits":{"requests":-1}}`

// TestCheckStops: who listens no more ends a check, and who goes away does.
func TestCheckStops(t *testing.T) {
	gone, lines := errors.New("nobody listens"), 0
	err := (&Calls{}).Call(t.Context(), "check", []byte(endless), func([]byte) error { lines++; return gone })
	if err != gone || lines != 1 {
		t.Errorf("%d lines and %v, want one and that nobody listens", lines, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = (&Calls{}).Call(ctx, "check", []byte(endless), func(line []byte) error {
		if strings.HasPrefix(string(line), `{"progress"`) {
			cancel()
		}
		return nil
	})
	if err != context.Canceled {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

// TestTime: what takes long has one bound, whoever makes the calls, and ends in a
// verdict.
func TestTime(t *testing.T) {
	for _, c := range []struct {
		calls *Calls
		name  string
		want  time.Duration
	}{
		{&Calls{}, "check", LongTime}, {With(), "compare", LongTime}, {&Calls{Time: time.Second}, "check", time.Second}, {&Calls{Time: time.Second}, "run", CallTime},
	} {
		if got := c.calls.limit(c.name); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	last := ""
	err := (&Calls{Time: time.Nanosecond}).Call(t.Context(), "check", []byte(endless), func(line []byte) error { last = string(line); return nil })
	if err != nil || !strings.Contains(last, `"verdict":"unfinished"`) {
		t.Errorf("%v, %.300s", err, last)
	}
}

// TestLargestText: a text that may be shown fits into a call, however much of it is
// escaped, and one that does not says what to do.
func TestLargestText(t *testing.T) {
	text := "algorithm raymond\nprocesses 3\n" + strings.Repeat("#\n", document.MaxText)
	body, err := json.Marshal(map[string]string{"text": text[:document.MaxText]})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := call(t, "run", string(body)); !strings.Contains(got, `"kind":"lock"`) {
		t.Errorf("%d bytes: %.300s", len(body), got)
	}
	for _, name := range []string{"run", "check"} {
		if got, _ := call(t, name, strings.Replace(string(body), "#", "##", 1)); !strings.Contains(got, "'stile-lab replay'") {
			t.Errorf("%s: %.300s", name, got)
		}
	}
	if got, _ := call(t, "run", strings.Repeat(" ", MaxBody+1)); !strings.Contains(got, "shorten the scenario") {
		t.Errorf("%.300s", got)
	}
}

// TestCompareOpensTheRun: the text of a cell enters when the measured run does.
func TestCompareOpensTheRun(t *testing.T) {
	got, _ := call(t, "compare", `{"algorithms":["raymond","lamport","token-ring"],"n":[4],"rest":[3],"hold":[2],"entries":40,"seed":7}`)
	var in struct{ Cells []Cell }
	if err := json.Unmarshal([]byte(got), &in); err != nil || len(in.Cells) != 3 {
		t.Fatal(err, got)
	}
	for _, c := range in.Cells {
		sc, err := scenario.Parse("", c.Text)
		if err != nil {
			t.Fatal(err, c.Text)
		}
		spec, err := document.SpecOf(sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := sim.Replay(spec, sc, sim.ReplayOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Text)
		}
		var want []sim.Entry
		_, err = sim.Run(sim.Config{
			Spec: spec, Nodes: 4, Entries: 40, Seed: 7, Think: scenario.Always(3 * scenario.T), Hold: scenario.Always(2 * scenario.T), Latency: scenario.Always(scenario.T),
			Observe: func(e trace.Event) {
				if e.Kind == trace.Enter && len(want) < shown {
					want = append(want, sim.Entry{Proc: e.Proc, At: e.At})
				}
			},
		})
		if err != nil || len(want) != shown || !slices.Equal(back.Entries, want) {
			t.Errorf("%s: %v, entries %v, want %v", c.Algorithm, err, back.Entries, want)
		}
	}
}

// TestOwnAlgorithm: a module's own algorithm can be run and compared.
func TestOwnAlgorithm(t *testing.T) {
	c := &Calls{Options: document.Options{Specs: func(name string, o algorithm.Options) (algorithm.Spec, error) {
		if name != "mine" {
			return catalog.Make(name, o)
		}
		s := mutex.RicartAgrawala()
		s.Name = "mine"
		return s, nil
	}}}
	for name, body := range map[string]string{
		"run":     `{"text":"algorithm mine\nprocesses 3\nat 0 P1 asks\n"}`,
		"act":     `{"text":"algorithm mine\nprocesses 3\n","deed":{"verb":"ask","proc":1}}`,
		"compare": `{"algorithms":["mine"],"n":[3],"entries":30}`,
		"check":   `{"text":"algorithm mine\nprocesses 2\n"}`,
		"fresh":   `{"algorithm":"mine","processes":3}`,
	} {
		last := ""
		err := c.Call(context.Background(), name, []byte(body), func(line []byte) error { last = string(line); return nil })
		if err != nil || strings.HasPrefix(last, `{"error"`) {
			t.Errorf("%s: %v %.300s", name, err, last)
		}
	}
}

// TestOwnGoesFirst: one's own algorithm is listed and compared once, in the place of
// one of the catalog that is called the same, and has no options.
func TestOwnGoesFirst(t *testing.T) {
	mine, raymond := mutex.RicartAgrawala(), mutex.Lamport()
	mine.Name, raymond.Name, raymond.Title = "mine", "raymond", "not Raymond's"
	c := With(mine, raymond)
	ask := func(name, body string) string {
		last := ""
		if err := c.Call(t.Context(), name, []byte(body), func(line []byte) error { last = string(line); return nil }); err != nil {
			t.Fatal(err)
		}
		return last
	}
	var list []Choice
	if err := json.Unmarshal([]byte(ask("algorithms", "")), &list); err != nil {
		t.Fatal(err)
	}
	titles := map[string][]string{}
	for _, x := range list {
		titles[x.Name] = append(titles[x.Name], x.Title)
		if len(titles[x.Name]) > 1 || x.Options == nil || x.Name == "raymond" && len(x.Options) > 0 {
			t.Errorf("%s: titles %q, options %q", x.Name, titles[x.Name], x.Options)
		}
	}
	if titles["mine"] == nil || titles["raymond"][0] != raymond.Title || titles["raymond+bully"] == nil {
		t.Errorf("got %v", titles)
	}
	var map_ struct{ Cells []Cell }
	if err := json.Unmarshal([]byte(ask("compare", `{"n":[3],"rest":[0],"entries":20}`)), &map_); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, x := range map_.Cells {
		times[x.Algorithm]++
	}
	if times["mine"] != 1 || times["raymond"] != 1 || times["lamport"] != 1 {
		t.Errorf("compared: %v", times)
	}
	if got := ask("run", `{"text":"algorithm mine\nprocesses 3\nk 4\n"}`); !strings.Contains(got, "mine has no option k") {
		t.Errorf("%.300s", got)
	}
}

// TestCompareOpensAll: every cell can be opened, also where nobody rests, and
// whoever leaves asks again at that very time.
func TestCompareOpensAll(t *testing.T) {
	got, _ := call(t, "compare", `{"n":[3,7],"rest":[0,10],"hold":[1],"entries":60}`)
	var in struct{ Cells []Cell }
	if err := json.Unmarshal([]byte(got), &in); err != nil || len(in.Cells) < 40 {
		t.Fatal(err, got)
	}
	for _, c := range in.Cells {
		if (c.Text == "") != (c.Measured == nil) {
			t.Errorf("%s among %d: measured %v, but its text is %q", c.Algorithm, c.Nodes, c.Measured != nil, c.Text)
		}
		if c.Text == "" {
			continue
		}
		if d := document.Run(c.Text, document.Options{}); d.Error != nil {
			t.Errorf("%s: line %d: %s\n%s", c.Algorithm, d.Error.Line, d.Error.Text, c.Text)
		}
	}
}

// The bank loses what its title says.
func TestBankLoses(t *testing.T) {
	body, _ := json.Marshal(map[string]string{"text": bank})
	if got, _ := call(t, "run", string(body)); !strings.Contains(got, `"balance":10000,"lost":0,`) || !strings.Contains(got, `"balance":500,"lost":10000,"reads":[],"read":[]}]`) {
		t.Errorf("the bank does not lose 10,000: %.300s", got)
	}
}
