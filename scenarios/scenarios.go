// Package scenarios holds worked examples, for whoever wants to show them.
package scenarios

import "embed"

// Files are the scenarios of this folder.
//
//go:embed *.stile
var Files embed.FS
