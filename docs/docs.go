// Package docs holds the pages that the command shows.
package docs

import _ "embed"

// Glossary is the page that says what the words of stile mean.
//
//go:embed glossary.md
var Glossary string
