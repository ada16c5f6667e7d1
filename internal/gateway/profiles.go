package gateway

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"time"
)

// profilesPath is the path of profiles.
const profilesPath = "/debug/pprof/"

// Profiles serves profiles of the process, as 'go tool pprof' and 'go tool trace' ask for them.
// Package net/http/pprof does so too, and serves them to everyone who asks
// http.DefaultServeMux.
func Profiles() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, profilesPath)
		one := pprof.Lookup(name)
		w.Header().Set("Content-Type", "application/octet-stream")
		if name == "" || name == "cmdline" || r.FormValue("debug") != "" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		}
		to := whileLive{w, r.Context()}
		var err error
		switch {
		case name == "":
			for _, p := range pprof.Profiles() {
				fmt.Fprintln(w, p.Name(), p.Count())
			}
			fmt.Fprint(w, "profile?seconds=30\ntrace?seconds=1\ncmdline\n")
		case name == "cmdline":
			fmt.Fprint(w, strings.Join(os.Args, "\x00"))
		case name == "profile":
			if err = pprof.StartCPUProfile(to); err == nil {
				to.wait(r, 30)
				pprof.StopCPUProfile()
			}
		case name == "trace":
			if err = trace.Start(to); err == nil {
				to.wait(r, 1)
				trace.Stop()
			}
		case one == nil:
			http.NotFound(w, r)
		default:
			if name == "heap" && r.FormValue("gc") != "" {
				runtime.GC()
			}
			debug, _ := strconv.Atoi(r.FormValue("debug"))
			err = one.WriteTo(to, debug)
		}
		switch {
		case r.Context().Err() != nil:
			panic(http.ErrAbortHandler) // the answer is not complete
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}

// A whileLive writes until a context ends. A profile that takes time is sent at its end: it is
// not, if the caller may no longer have it by then.
type whileLive struct {
	http.ResponseWriter
	ctx context.Context
}

// Write implements io.Writer.
func (w whileLive) Write(b []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.ResponseWriter.Write(b)
}

// wait waits for as many seconds as a request asks for, up to maxWait.
func (w whileLive) wait(r *http.Request, usual int) {
	seconds, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil || seconds <= 0 {
		seconds = usual
	}
	select {
	case <-time.After(min(time.Duration(min(seconds, 1000))*time.Second, maxWait)):
	case <-w.ctx.Done():
	}
}
