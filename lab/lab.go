// Package lab serves the lab: a page that runs algorithms step by step, lets a reader
// drive and break them by hand, and checks every interleaving. 'stile-lab' is this
// handler with the algorithms of the catalog.
package lab

import (
	"net/http"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/lab/internal/calls"
	"github.com/stile-lock/stile/lab/web"
)

// Handler serves the lab with the author's own algorithms in addition to those of the
// catalog. An algorithm that has the name of one in the catalog replaces it.
//
// It answers only requests that are addressed to localhost or to an IP address, and that come
// from no page but its own: a page of another origin cannot use it.
func Handler(own ...algorithm.Spec) http.Handler { return web.Handler(calls.With(own...)) }
