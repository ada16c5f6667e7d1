// Package scenarios holds worked examples, embedded for programs that show them.
package scenarios

import "embed"

// Files are the scenarios of this folder.
//
//go:embed *.stile
var Files embed.FS
