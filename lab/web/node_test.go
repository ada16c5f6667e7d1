package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/lab/calls"
)

// The lab of a node is below its path, answers light calls, and refuses others with what to
// do; its pages have no path of their own in them.
func TestLabOfNode(t *testing.T) {
	url := serve(t, Lab(&calls.Calls{Light: true}))
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"page", "GET", "/lab/", "", nil, 200, "app.js"},
		{"script", "GET", "/lab/app.js", "", nil, 200, ""},
		{"elsewhere", "GET", "/other", "", nil, 404, ""},
		{"by another name", "POST", "/lab/api/run", `{"text":"algorithm central\nprocesses 2\nat 0 P2 asks\n"}`, []string{"Host", "node.example:7421", "Origin", "https://node.example:7421"}, 200, `"algorithm"`},
		{"from another site", "POST", "/lab/api/run", `{}`, []string{"Origin", "https://evil.example"}, 403, "another site"},
		{"check", "POST", "/lab/api/check", `{"text":"algorithm central\nprocesses 2\n"}`, nil, 200, "stile lab"},
		{"compare", "POST", "/lab/api/compare", `{}`, nil, 200, "stile lab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, text := ask(t, c.method, url+c.path, c.body, c.headers...)
			if a.StatusCode != c.status || !strings.Contains(text, c.want) {
				t.Errorf("%d %.300q, want %d and %q", a.StatusCode, text, c.status, c.want)
			}
		})
	}
	if _, page := ask(t, "GET", url+LabPath, ""); strings.Contains(page, `="/`) {
		t.Error("the page has a link to the root, which is another page's at a node")
	}
}

// A busy is a caller that answers when it is told to.
type busy struct{ began, end chan struct{} }

func (b busy) Call(context.Context, string, []byte, func([]byte) error) error {
	b.began <- struct{}{}
	<-b.end
	return nil
}

// More calls at a time than the node has places for are refused at once; the page tries again.
func TestLabOfNodeBusy(t *testing.T) {
	b := busy{make(chan struct{}), make(chan struct{})}
	url := serve(t, Lab(b))
	ended := make(chan int, nodeCalls)
	for range nodeCalls {
		go func() {
			a, err := http.Post(url+LabAPI+"run", contentJSON, strings.NewReader("{}"))
			if err != nil {
				ended <- 0
				return
			}
			ended <- a.StatusCode
			_ = a.Body.Close()
		}()
		<-b.began
	}
	if a, text := ask(t, "POST", url+LabAPI+"run", "{}"); a.StatusCode != 503 || !strings.Contains(text, "try again") {
		t.Errorf("%d %q", a.StatusCode, text)
	}
	close(b.end)
	for range nodeCalls {
		if status := <-ended; status != 200 {
			t.Errorf("a call in progress: %d", status)
		}
	}
	if len(b.began) > 0 {
		t.Error("the refused call was made")
	}
}
