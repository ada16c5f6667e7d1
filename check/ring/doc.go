// Package ring is a model made by hand: Dijkstra's K-state ring with flags that
// neighbours read, or with messages, from every state there is.
package ring
