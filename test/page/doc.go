// Package page walks through the lab and the console as people do: students, teachers and
// operators. Each journey is one test. It starts the real programs, opens their pages in a
// browser, does what a person does, and asserts what that person sees.
//
// The journeys are black boxes: they import nothing of the lab, and find things by their words,
// labels and roles where these are unique. They wait for conditions, never for a time, so a busy
// machine makes them slower but not red. The programs are built once, and all journeys share one
// browser, each with a window of its own; two run at once.
//
// Each window reports at its end what the page complained about: errors and warnings of the
// browser's console, exceptions, and what its security policy forbids. planted_test.go changes
// the page's sources and asserts that the journeys notice.
//
// Layout, state and formats are tested without a browser: see lab/web/src/test and
// tools/web-test.sh.
package page
