package page

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// largest is how many bytes the WebAssembly may weigh that every visitor of the site loads.
const largest = 2_070_000

// A student opens the lab of a static site, on a web server that knows nothing of it: it runs,
// checks and stops as the lab does, and answers the same. Nightly.
func TestStaticSite(t *testing.T) {
	if !nightly() {
		t.Skip("it builds the laboratory for WebAssembly: STILE_NIGHTLY=1")
	}
	needsBrowser(t)
	dir := t.TempDir()
	if out, err := exec.Command("bash", filepath.Join(root, "lab/web/build.sh"), dir, "--site").CombinedOutput(); err != nil {
		t.Fatalf("the site cannot be built: %v\n%s", err, out)
	}
	info, err := os.Stat(filepath.Join(dir, "stile.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("libdeflate-gzip"); err == nil && info.Size() > largest {
		t.Errorf("the module weighs %d bytes, want at most %d", info.Size(), largest)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	p := open(t, s.URL)
	p.says(".exhibit.is-first", "The bank that loses 10,000")
	p.fill("raymond")
	p.press("Raymond (a): 5, then 2")
	p.says("h1", "Raymond (a): 5, then 2")
	p.key(kb.End)
	p.at("39 of 39")
	p.write("algorithm raymond\nprocesses 3\n") // which does not take long
	p.dialog("check")
	p.press("Check")
	p.says(".check-verdict.is-proved", "Proved.")
	p.leave()
	p.write("algorithm lamport\nprocesses 5\n")
	p.dialog("check")
	p.press("Check again")
	p.until(`/[1-9]/.test(document.querySelector("[data-number=states]").innerText)`)
	p.press("Stop")
	p.says(".check-standing", "Nothing is proved")

	type question struct {
		Name string `json:"name"`
		Body string `json:"body"`
	}
	all := []question{{"gallery", "{}"}, {"algorithms", ""}, {"run", `{"txt":1}`}, {"run", `{"text":"algorithm raymond\nprocesses <x>\n"}`}}
	for _, name := range []string{"raymond-a", "bakery-naive-two-in", "none-ring", "graph-cycle"} {
		text, err := json.Marshal(example(t, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, question{"run", `{"text":` + string(text) + `,"spacing":"time"}`})
	}
	asked, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	eval[bool](p, `(() => {
		const worker = new Worker("worker.js"), asked = `+string(asked)+`, lines = asked.map(() => "");
		let left = asked.length;
		worker.onmessage = ({ data }) => {
			if (data.ready) asked.forEach((q, id) => worker.postMessage({ id, ...q }));
			if (data.line !== undefined) lines[data.id] += data.line + "\n";
			if (data.done && --left == 0) { worker.terminate(); window.answers = lines; }
		};
		return true;
	})()`)
	p.until(`window.answers`)
	for i, answer := range eval[[]string](p, `window.answers`) {
		if want := post(t, labURL(t)+"/api/"+all[i].Name, all[i].Body); answer != want {
			t.Errorf("%s %.100s: the worker answers\n%.300q\nthe server\n%.300q", all[i].Name, all[i].Body, answer, want)
		}
	}
}

// post sends a call as the page does, and returns the answer.
func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "http://"+r.Host)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
