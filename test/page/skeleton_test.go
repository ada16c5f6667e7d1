package page

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var skeleton = flag.Bool("skeleton", false, "write into src/index.html what the page shows first")

// What is between these marks in index.html is shown before the script is there.
const (
	skeletonBegin = "<div id=\"app\" inert>\n"
	skeletonEnd   = "\n</div>\n<noscript>"
)

// printed writes what is in an element of the page as index.html has it. Styles are left
// out, which the policy of the page would refuse.
const printed = `((app) => {
	const own = app.cloneNode(true);
	const was = app.querySelectorAll("*");
	own.querySelectorAll("*").forEach((e, i) => {
		e.removeAttribute("style");
		if (was[i].selected) e.setAttribute("selected", "");
		const all = [...e.attributes].sort((a, b) => a.name < b.name ? -1 : 1);
		for (const {name} of all) e.removeAttribute(name);
		for (const {name, value} of all) e.setAttribute(name, value);
		for (const n of [...e.childNodes, ...own.childNodes]) if (n.nodeType == 3 && !n.data.trim()) n.remove();
	});
	return own.innerHTML.replaceAll(/>(<(header|h1|h2|nav|main|section|div|p|ul|button|label|select|option)[ >])/g, ">\n$1");
})`

// What is there before the script, so that the first paint need not wait for it, is what
// the script shows as long as it knows nothing: it is the page, and nothing moves when
// the script comes.
func TestSkeleton(t *testing.T) {
	t.Parallel()
	lab := &slow{ready: make(chan bool)}
	defer close(lab.ready)
	p := open(t, serve(t, labOf(t, lab)))
	want := eval[string](p, printed+`(document.getElementById("app"))`)
	data, err := os.ReadFile("src/index.html")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(data, []byte(skeletonBegin))
	_, after, found := bytes.Cut(rest, []byte(skeletonEnd))
	if !ok || !found {
		t.Fatalf("index.html has no %q ... %q", skeletonBegin, skeletonEnd)
	}
	if *skeleton {
		if err := os.WriteFile("src/index.html", bytes.Join([][]byte{before, []byte(skeletonBegin + want + skeletonEnd), after}, nil), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := eval[string](p, printed+`(new DOMParser().parseFromString(`+quote(string(data))+`, "text/html").getElementById("app"))`)
	if got != want {
		t.Errorf("index.html has not what the page shows first, from %q on, where the page has %q: run 'make skeleton'", different(got, want), different(want, got))
	}
}

// different is the first line of a text that is not in another one.
func different(text, other string) string {
	lines, others := strings.Split(text, "\n"), strings.Split(other, "\n")
	for i, line := range lines {
		if i >= len(others) || line != others[i] {
			return line
		}
	}
	return ""
}
