//go:build !race

package check

// racing is set where the race detector makes everything slow.
const racing = false
