package page

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/internal/lab/calls"
	"github.com/stile-lock/stile/lab/web"
)

// site builds the static site, and returns where it is and where it is served.
func site(t *testing.T) (dir, url string) {
	t.Helper()
	browser(t) // without one nothing is to be built
	dir = t.TempDir()
	if out, err := exec.Command("bash", "build.sh", dir, "--site").CombinedOutput(); err != nil {
		t.Fatalf("the site cannot be built: %v\n%s", err, out)
	}
	return dir, serve(t, http.FileServer(http.Dir(dir)))
}

// What the WebAssembly may weigh, and all files of the lab, compressed.
const (
	maxModule = 2_070_000
	maxSite   = 2_150_000
)

// weight returns how many bytes of the site a browser loads from a server that compresses.
func weight(t *testing.T, dir string) (all int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name(), ".gz") {
			all += len(data)
			continue
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = w.Write(data)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		all += packed.Len()
	}
	return all
}

// The static site, on a web server that knows nothing of it, shows, runs, checks and
// stops as the lab does, and answers the same bytes.
func TestSite(t *testing.T) {
	t.Parallel()
	dir, url := site(t)
	info, err := os.Stat(filepath.Join(dir, "stile.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("libdeflate-gzip"); err != nil {
		t.Logf("there is no libdeflate-gzip, so the module weighs %d bytes, and may", info.Size())
	} else if info.Size() > maxModule {
		t.Errorf("the module weighs %d bytes, want at most %d", info.Size(), maxModule)
	} else if all := weight(t, dir); all > maxSite {
		t.Errorf("the site weighs %d bytes, want at most %d", all, maxSite)
	}
	p := open(t, url)
	v := &visit{page: p, url: url}
	v.says(".exhibit.is-first", "The bank that loses 10,000")
	v.press("Raymond (a): ")
	v.until(`!document.querySelector("dialog[open]") && document.title.includes("Raymond (a)")`)
	v.keys(kb.End)
	p.at("39 of 39")

	p.write("algorithm raymond\nprocesses 3\n") // which does not take long
	v.until(`document.querySelector(".count").innerText.endsWith("of 0")`)
	v.show("check")
	v.press("Check")
	v.says(".check-verdict.is-proved", "Proved.")
	v.keys(kb.Escape)
	v.until(`!document.querySelector("dialog[open]")`)
	p.click("textarea")
	v.keys("a", kb.ModifierCtrl)
	v.keys("algorithm lamport\nprocesses 5\n")
	v.until(`document.querySelector(".chips").innerText.includes("lamport")`)
	v.show("check")
	v.press("Check")
	v.until(`document.querySelector("[data-number=states]")?.innerText.match(/[1-9]/)`)
	v.press("Stop")
	v.says(".check-standing", "Nothing is proved")

	sameBytes(t, p)
}

// A question is a call of the page.
type question struct {
	Name string `json:"name"`
	Body string `json:"body"`
}

// questions are calls whose answers do not tell the time.
func questions(t *testing.T) []question {
	all := []question{{"start", "{}"}, {"gallery", "{}"}, {"algorithms", ""}, {"dance", "{}"}, {"run", `{"txt":1}`}, {"run", `{"text":"algorithm raymond\nprocesses <x>\n"}`},
		{"fresh", `{"algorithm":"maekawa","processes":9,"workload":"all"}`}, {"fresh", `{"algorithm":"wait-die","processes":3}`}}
	for _, name := range []string{"raymond-a", "bakery-naive-two-in", "bully-5-of-8", "none-ring", "graph-cycle", "central+bully-coordinator", "ricart-agrawala-a"} {
		text, err := json.Marshal(example(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []question{{"run", `{"text":%,"spacing":"event"}`}, {"run", `{"text":%,"spacing":"time"}`}, {"act", `{"text":%,"event":3,"deed":{"verb":"crash","proc":1}}`}, {"export", `{"text":%,"as":"json"}`}} {
			all = append(all, question{q.Name, strings.Replace(q.Body, "%", string(text), 1)})
		}
	}
	return all
}

// sameBytes asks the worker of a page and the server the same.
func sameBytes(t *testing.T, p *page) {
	t.Helper()
	all := questions(t)
	asked, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	eval[bool](p, `(() => {
		const worker = new Worker("worker.js"), asked = `+string(asked)+`, lines = asked.map(() => []);
		let left = asked.length;
		worker.onmessage = ({ data }) => {
			if (data.ready) asked.forEach((q, id) => worker.postMessage({ id, ...q }));
			if (data.failed) window.answers = data.failed;
			if (data.line !== undefined) lines[data.id].push(data.line + "\n");
			if (data.done && --left == 0) { worker.terminate(); window.answers = lines.map((l) => l.join("")); }
		};
		return true;
	})()`)
	p.until(`window.answers`)
	got := eval[[]string](p, `window.answers`)
	if other := post(t, serve(t, web.Handler(&calls.Calls{Start: "other"}))+"/api/start", "{}"); got[0] == other {
		t.Error("what differs is not seen")
	}
	url := serve(t, web.Handler(&calls.Calls{}))
	for i, q := range all {
		if want := post(t, url+"/api/"+q.Name, q.Body); got[i] != want {
			t.Errorf("%s %.100s: the worker answers\n%.300q\nthe server\n%.300q", q.Name, q.Body, got[i], want)
		}
	}
}
