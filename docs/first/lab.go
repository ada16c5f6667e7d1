package first

import (
	"net/http"

	"github.com/stile-lock/stile/lab"
)

// Lab returns the lab with the algorithms of this tutorial beside those of the catalog.
func Lab() http.Handler { return lab.Handler(Baton(), Polite()) }
