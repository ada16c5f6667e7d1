package gateway

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"
)

// maxProfile is the maximum length of a profile: calls end soon after.
const maxProfile = maxWait

// profiles serves profiles where 'go tool pprof' and 'go tool trace' look for them. Package
// net/http/pprof does so, too, but with its page it adds 0.3 MB to the binary.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{$}", listProfiles)
	mux.HandleFunc("GET /debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(plainText(w), strings.Join(os.Args, "\x00"))
	})
	mux.HandleFunc("GET /debug/pprof/profile", during(30*time.Second, pprof.StartCPUProfile, pprof.StopCPUProfile))
	mux.HandleFunc("GET /debug/pprof/trace", during(time.Second, trace.Start, trace.Stop))
	mux.HandleFunc("GET /debug/pprof/{name}", writeProfile)
	return mux
}

// plainText declares an answer to be text.
func plainText(w http.ResponseWriter) io.Writer {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return w
}

// listProfiles names the profiles.
func listProfiles(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(plainText(w), "profile?seconds=30\ntrace?seconds=1")
	for _, p := range pprof.Profiles() {
		fmt.Fprintln(w, p.Name())
	}
}

// writeProfile writes what a profile has collected since the process started, or, with
// debug=1 or 2, the same as text.
func writeProfile(w http.ResponseWriter, r *http.Request) {
	p := pprof.Lookup(r.PathValue("name"))
	if p == nil {
		http.Error(w, "no such profile: /debug/pprof/ lists them", http.StatusNotFound)
		return
	}
	debug, _ := strconv.Atoi(r.FormValue("debug")) // 0 if it is no number
	if debug > 0 {
		plainText(w)
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	_ = p.WriteTo(w, debug) // an error means that the caller has gone
}

// during returns what profiles the process for as many seconds as a request says, by default
// the usual time.
func during(usual time.Duration, start func(io.Writer) error, stop func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		length := usual
		if text := r.FormValue("seconds"); text != "" {
			seconds, err := strconv.ParseFloat(text, 64)
			length = time.Duration(seconds * float64(time.Second))
			if err != nil || !(seconds > 0 && seconds <= maxProfile.Seconds()) {
				http.Error(w, fmt.Sprintf("seconds=%.20q: want a number up to %v", text, maxProfile.Seconds()), http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if err := start(w); err != nil { // another one is in progress
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		select {
		case <-time.After(length):
		case <-r.Context().Done():
		}
		stop()
	}
}
