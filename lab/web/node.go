package web

import (
	"net/http"
	"strings"
)

// LabPath is the path of the lab of a node, and LabAPI that of its calls.
const (
	LabPath = "/lab/"
	LabAPI  = LabPath + "api/"
)

// nodeCalls is how many calls the lab of a node answers at a time: the node has locks to
// serve.
const nodeCalls = 2

// Lab serves the lab below LabPath, as a part of a server that decides who may use it and
// by which names it may be addressed. Its caller should refuse what takes long.
func Lab(caller Caller) http.Handler {
	return http.StripPrefix(strings.TrimSuffix(LabPath, "/"), HandlerOf(Bundle, caller, Options{AnyName: true, Most: nodeCalls}))
}
