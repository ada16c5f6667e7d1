//go:build !nosqlite

package teller

import _ "modernc.org/sqlite" // the driver of a Place without a server
