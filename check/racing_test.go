//go:build race

package check_test

// racing is set where the race detector makes everything slow.
const racing = true
