package first

import (
	"net/http"

	"github.com/stile-lock/stile/internal/world/calls"
	"github.com/stile-lock/stile/web"
)

// Lab is the lab with the algorithms of this tutorial beside those of the catalog.
func Lab() http.Handler { return web.Handler(calls.With(Baton(), Polite())) }
