// Package page tries the page of the lab in a real browser. It has nothing but tests.
package page
