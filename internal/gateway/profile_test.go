package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Profiles have the form that the tools of Go expect: compressed, or text.
func TestProfileForms(t *testing.T) {
	for path, x := range map[string]struct {
		code   int
		begins string
	}{
		"":                      {http.StatusOK, "profile?seconds=30\n"},
		"cmdline":               {http.StatusOK, "/"},
		"heap":                  {http.StatusOK, "\x1f\x8b"},
		"goroutine?debug=1":     {http.StatusOK, "goroutine profile: total"},
		"profile?seconds=0.01":  {http.StatusOK, "\x1f\x8b"},
		"trace?seconds=0.01":    {http.StatusOK, "go 1."},
		"none":                  {http.StatusNotFound, "no such profile"},
		"profile?seconds=61":    {http.StatusBadRequest, "seconds="},
		"profile?seconds=x":     {http.StatusBadRequest, "seconds="},
		"trace?seconds=-1":      {http.StatusBadRequest, "seconds="},
		"trace?seconds=NaN":     {http.StatusBadRequest, "seconds="},
		"profile?seconds=1e300": {http.StatusBadRequest, "seconds="},
	} {
		w := httptest.NewRecorder()
		profiles().ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/"+path, nil))
		if w.Code != x.code || !strings.HasPrefix(w.Body.String(), x.begins) {
			t.Errorf("%s: %d %.40q", path, w.Code, w.Body)
		}
	}
}
