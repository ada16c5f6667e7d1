package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/stile-lock/stile/internal/origin"
	"github.com/stile-lock/stile/internal/words"
	"github.com/stile-lock/stile/lab/internal/calls"
	"github.com/stile-lock/stile/lab/web/internal/wire"
)

// A server answers calls, within limits.
type server struct {
	calls      Caller
	policy     string // content security policy of the page
	origin     origin.Guard
	maxBody    int64
	callTime   time.Duration
	streamTime time.Duration
}

// call answers one call. It ends if the page goes away, or asks for something else.
func (s *server) call(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, r, http.StatusMethodNotAllowed, fmt.Errorf("a call must be a POST, not a %s", r.Method))
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != contentJSON {
		refuse(w, r, http.StatusUnsupportedMediaType, fmt.Errorf("a call must have the Content-Type %s", contentJSON))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, r, http.StatusRequestEntityTooLarge, fmt.Errorf("the call has more than %s bytes: shorten the scenario", words.Grouped(s.maxBody)))
		return
	case err != nil:
		refuse(w, r, http.StatusBadRequest, fmt.Errorf("cannot read the call: %w", err))
		return
	}
	s.answer(w, r, body)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	name, limit := r.PathValue("name"), s.callTime
	kind := contentJSON
	if slices.Contains(calls.Streams(), name) {
		limit, kind = s.streamTime, "application/x-ndjson"
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, fmt.Errorf("%s took longer than %v: shorten the scenario, or use the command line", name, limit))
	defer cancel()

	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	begun, flush := false, http.NewResponseController(w).Flush
	emit := func(line []byte) error {
		begun = true
		if _, err := w.Write(line); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return flush()
	}
	err := s.calls.Call(ctx, name, body, emit)
	switch {
	case err == nil:
	case ctx.Err() != nil && r.Context().Err() == nil:
		err = context.Cause(ctx)
		fallthrough
	case begun:
		_ = emit(wire.Error(err)) // if it fails, the listener is gone
	default:
		refuse(w, r, http.StatusBadRequest, err)
	}
}
