// Package museum makes pages of docs/results from many checks: the museum of broken mutual
// exclusion, what was proved, and what one fault does to every lock.
//
// Most checks are command lines of 'stile check'. The pages show them, and a Parser turns
// them into checks, so each page shows the check that was made. The museum is a template,
// museum.tmpl, whose actions make checks and replay scenarios.
package museum
