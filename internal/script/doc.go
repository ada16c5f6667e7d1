// Package script is a scenario or a graph of resources as data: its parser, its formatter
// and its checks. Package scenario is its public door, and documents the language.
package script
