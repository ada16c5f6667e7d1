package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A desk is a backend for tests of the dialogs: its runs are made up, two events for
// every line of the schedule, and its check goes on until it is told to end.
type desk struct {
	start string

	mu    sync.Mutex
	asked map[string][]string // the bodies of calls, by name

	endCheck chan string // what the check says last
	stopped  chan bool   // a check was stopped
}

func newDesk(start string) *desk {
	return &desk{start: start, asked: map[string][]string{}, endCheck: make(chan string, 1), stopped: make(chan bool, 10)}
}

// last is the body of the last call of a name.
func (d *desk) last(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if all := d.asked[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

func (d *desk) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	d.mu.Lock()
	d.asked[name] = append(d.asked[name], string(body))
	d.mu.Unlock()
	var q struct {
		Text string
		As   string
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	switch name {
	case "start":
		return emitJSON(emit, map[string]string{"text": d.start})
	case "run":
		return emitJSON(emit, madeUp(q.Text))
	case "gallery":
		return emit([]byte(shelfJSON))
	case "algorithms":
		return emit([]byte(algorithmsJSON))
	case "fresh":
		return emitJSON(emit, map[string]string{"text": "title Fresh\nalgorithm raymond\nP1 asks"})
	case "export":
		return emitJSON(emit, exported(q.As))
	case "compare":
		return emit([]byte(compareJSON))
	case "check":
		return d.check(ctx, emit)
	}
	return fmt.Errorf("there is no call %s", name)
}

func (d *desk) check(ctx context.Context, emit func([]byte) error) error {
	if err := emit([]byte(`{"progress":{"states":12345,"depth":7}}`)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		d.stopped <- true
		return ctx.Err()
	case said := <-d.endCheck:
		return emit([]byte(said))
	}
}

func emitJSON(emit func([]byte) error, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return emit(line)
}

// madeUp is a document of a text: a line that begins with bogus is wrong, an expect
// with the word never is not met, and every other line of the schedule has two events.
func madeUp(text string) any {
	type object = map[string]any
	none := []object{}
	doc := object{
		"title": "", "kind": "lock", "algorithm": object{"name": "central", "title": "Central coordinator"}, "names": []string{"P1", "P2"},
		"steps": false, "unit": 1, "network": "fifo", "badges": none, "kinds": none,
		"layout": object{
			"page": object{"width": 150, "height": 100, "left": 50, "plot": 100, "top": 79, "pitch": 44}, "window": object{"from": 0, "to": 10, "margin": 20, "room": 60}, "title": none, "part": object{}, "footer": none, "lanes": none, "kinds": none,
			"lives": none, "bars": none, "uprights": none, "arrows": none, "dots": none, "marks": none, "ticks": none, "axis": object{}, "legend": none,
		},
		"keys":   []object{{"event": 0, "states": [][][2]string{{}, {}}, "status": []string{"idle", "idle"}, "waits": []string{"", ""}}},
		"deltas": none, "scene": object{"shape": "mesh", "places": []object{{"x": 0.2, "y": 0.5}, {"x": 0.8, "y": 0.5}}, "links": none, "groups": none},
		"measures": none, "properties": none, "violations": none, "end": object{},
	}
	events, lines, expects := none, none, none
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "bogus":
			return object{"error": object{"line": i + 1, "col": 1, "text": `found "bogus": write a line that can happen`}}
		case words[0] == "title":
			doc["title"] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "title"))
		case words[0] == "expect":
			ok := !strings.Contains(line, "never")
			got := ""
			if !ok {
				got = "it came otherwise"
			}
			expects = append(expects, object{"line": i + 1, "ok": ok, "want": strings.Join(words[1:], " "), "got": got})
		case words[0] == "at" || strings.HasPrefix(words[0], "P"):
			lines = append(lines, object{"line": i + 1, "from": len(events), "to": len(events) + 2})
			for n := range 2 {
				events = append(events, object{"at": len(events), "kind": "request", "proc": 0, "peer": -1, "line": i + 1, "text": fmt.Sprintf("%s, %d", line, n)})
			}
		}
	}
	doc["events"], doc["lines"], doc["expects"], doc["ended"] = events, lines, expects, len(events)
	return doc
}

func exported(as string) map[string]string {
	switch as {
	case "svg":
		return map[string]string{"file": "run.svg", "media": "image/svg+xml", "data": `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20"><rect width="40" height="20" fill="#0a0"/></svg>`}
	case "command":
		return map[string]string{"file": "", "media": "text/plain", "data": "stile replay - <<'EOF'"}
	}
	return map[string]string{"file": "run." + as, "media": "text/plain", "data": "of " + as}
}

const shelfJSON = `{"groups":[
{"title":"First","items":[{"file":"bank.stile","title":"The bank that loses 10,000","sentence":"Nobody locks.","text":"title The bank\nalgorithm none\nat 1 P1 asks\nat 2 P2 asks"}]},
{"title":"Worked examples","items":[
{"file":"ra.stile","title":"Two ask at once","sentence":"The smaller stamp wins.","text":"title Two at once\nalgorithm ricart-agrawala\nat 1 P1 asks"},
{"file":"evil.stile","title":"<script>document.title='evil'</script>","sentence":"<img src=x onerror=alert(1)>","text":"title <script>document.title='evil'</script>\nalgorithm raymond\nP1 asks"}]}]}`

const algorithmsJSON = `[
{"name":"central","title":"Central coordinator","family":"mutual-exclusion","class":"permission","wrong":"","weaker":"","paper":"folklore","least":1,"most":0,"options":[{"name":"coordinator","word":"coordinator"}]},
{"name":"ricart-agrawala","title":"Ricart and Agrawala","family":"mutual-exclusion","class":"permission","wrong":"","weaker":"","paper":"CACM 1981","least":1,"most":0,"options":[]},
{"name":"bakery-naive","title":"Bakery without choosing","family":"mutual-exclusion","class":"permission","wrong":"two can be inside","weaker":"","paper":"after Lamport","least":2,"most":5,"options":[]}]`

const compareJSON = `{"cells":[
{"algorithm":"central","n":3,"rest":"0","hold":"1","measured":"2.0","theory":"0..3","fits":true,"text":"title Central of 3\nP1 asks"},
{"algorithm":"central","n":5,"rest":"0","hold":"1","measured":"2.4","theory":"0..3","fits":true,"text":"title Central of 5\nP1 asks"},
{"algorithm":"maekawa","n":3,"skipped":"there is no grid of 3"},
{"algorithm":"maekawa","n":5,"rest":"0","hold":"1","measured":"9.9","theory":"6..9","fits":false,"text":"title Maekawa of 5\nP1 asks"}]}`
