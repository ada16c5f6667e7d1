package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/internal/lab/calls"
	"github.com/stile-lock/stile/internal/lab/document"
	"github.com/stile-lock/stile/lab/web"
)

// A newcomer's questions have answers on the page, for every sound lock: why does this
// process enter now, why does the other one wait, where is the token, and what if a message
// is lost?
func TestQuestions(t *testing.T) {
	t.Parallel()
	run := func(name string) string {
		return fmt.Sprintf("title With %s\nalgorithm %s\nprocesses 4\nhold 9\nuntil 60\nat 0 P3 asks\nat 0 P2 asks\n", name, name)
	}
	url := serve(t, web.Handler(&calls.Calls{}))
	// first returns the line that drops the first message of a run.
	first := func(text string) string {
		body, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Unit   int64
			Events []document.Event
		}
		if err := json.Unmarshal([]byte(post(t, url+"/api/run", string(body))), &d); err != nil {
			t.Fatal(err)
		}
		e := d.Events[slices.IndexFunc(d.Events, func(e document.Event) bool { return e.Kind == "send" && e.Proc > 0 })]
		return fmt.Sprintf("at %v drop %d -> %d\n", float64(e.At)/float64(d.Unit)+0.5, e.Proc+1, e.Peer+1)
	}
	v, explained := &visit{page: show(t, run("central"))}, 0
	v.clickOn(".measures .choice button", "^rules$")
	for _, s := range catalog.Sound() {
		v.trying = s.Name
		v.write(run(s.Name))
		v.until(fmt.Sprintf(`document.querySelector("h1").innerText == "With %s" && document.querySelector(".chips, header").innerText.includes(%q)`, s.Name, s.Name))
		eval[bool](v.page, `document.activeElement.blur(), true`)
		v.key(kb.Home)
		v.key("e")
		v.until(`[...document.querySelectorAll(".rules li.followed p")].some((p) => p.innerText.includes(" enters"))`)
		v.until(`document.querySelector(".why .reason")?.innerText.match(/^P\d waits/)`)
		if s.Class == algorithm.Token && s.Shape.Carrier != "" {
			v.until(`[...document.querySelectorAll(".why .reason")].every((p) => p.innerText.match(/token.*P\d/s))`)
		}
		v.write(strings.Replace(run(s.Name), "title With", "title Lost with", 1) + first(run(s.Name)))
		v.until(fmt.Sprintf(`document.querySelector("h1").innerText == "Lost with %s"`, s.Name))
		eval[bool](v.page, `document.activeElement.blur(), true`)
		v.key(kb.End)
		switch why := eval[string](v.page, `[...document.querySelectorAll(".why .reason")].map((p) => p.innerText).join("\n")`); {
		case strings.Contains(why, "was lost"):
			explained++
		case why != "":
			t.Errorf("%s: a message was lost, and nothing says that processes wait because of it: %s", s.Name, why)
		}
	}
	if explained < 10 {
		t.Errorf("only %d locks have processes that wait because of a lost message", explained)
	}
}
