package web

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	p := open(t, serve(t, Handler(fake{})))
	p.until(`document.querySelector("h1")?.innerText.startsWith("Two of")`)
	if got := p.text("h1"); got != title {
		t.Errorf("the title is %q, want %q", got, title)
	}
	p.until(`document.querySelector("textarea").value == "the text of a scenario"`)
	p.until(`document.body.innerText.includes("22 events")`)
	p.click("textarea")
	p.key("x")
	p.until(`document.body.innerText.includes("23 events")`)
	p.shoot(filepath.Join(t.TempDir(), "page.png"))
}

// What the page complains about is heard: an error, and what its policy forbids.
func TestComplaints(t *testing.T) {
	p := open(t, serve(t, Handler(fake{})))
	p.see("textarea")
	eval[bool](p, `console.error("alas"), document.body.append(Object.assign(document.createElement("script"), {text: "document.title = 'evil'"})), true`)
	p.until(`document.title != "evil"`)
	said := strings.Join(p.complaints(), "\n")
	if !strings.Contains(said, "alas") || !strings.Contains(said, "Content Security Policy") {
		t.Errorf("heard only %q", said)
	}
}

// A server that goes away and comes back is found again, without a hand.
func TestServerGoesAway(t *testing.T) {
	first := httptest.NewServer(Handler(fake{}))
	defer first.Close()
	p := open(t, first.URL)
	p.until(`document.body.innerText.includes("22 events")`)
	first.CloseClientConnections()
	first.Close()
	p.click("textarea")
	p.key("xy")
	p.see(".lost")
	l, err := net.Listen("tcp", strings.TrimPrefix(first.URL, "http://"))
	if err != nil {
		t.Skip("somebody else took the port meanwhile: ", err)
	}
	second := &http.Server{Handler: Handler(fake{})}
	defer second.Close()
	go func() { _ = second.Serve(l) }()
	p.until(`document.body.innerText.includes("24 events") && !document.querySelector(".lost")`)
	p.complaints() // that the server could not be reached
}
