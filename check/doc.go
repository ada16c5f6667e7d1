// Package check explores every behaviour of a group of machines.
package check
