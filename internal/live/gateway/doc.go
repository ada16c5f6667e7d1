// Package gateway serves a node over HTTP: measurements, probes and profiles.
package gateway
