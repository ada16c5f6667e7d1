// Package postgres tries the fences of package stile on a real PostgreSQL, which its
// tests start and end. It has nothing but tests.
package postgres
