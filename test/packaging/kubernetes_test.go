package packaging

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/stile-lock/stile/internal/node/rights"
)

// A tree is a document of YAML.
type tree map[string]any

// at returns the value at a path, such as spec.ports.0.name; nil if there is none.
func (m tree) at(path string) any {
	var v any = map[string]any(m)
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// list returns the elements at a path.
func (m tree) list(path string) (all []tree) {
	some, _ := m.at(path).([]any)
	for _, x := range some {
		if t, ok := x.(map[string]any); ok {
			all = append(all, t)
		}
	}
	return all
}

// documents reads all documents of a file.
func documents(text string) (all []tree, err error) {
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var one map[string]any
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
}

// A manifest's parts refer to each other by name. wrong returns which references lead
// nowhere, and which promises of docs/install.md are not kept.
func wrong(text string) (found []string) {
	all, err := documents(text)
	if err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	find := func(kind, name string) tree {
		for _, d := range all {
			if d.at("kind") == kind && d.at("metadata.name") == name {
				return d
			}
		}
		say("no %s %s", kind, name)
		return tree{}
	}
	set := find("StatefulSet", "stile")
	pod := fmt.Sprint(set.at("spec.template.metadata.labels"))
	governing := fmt.Sprint(set.at("spec.serviceName"))
	headless := find("Service", governing)
	if headless.at("spec.clusterIP") != "None" || headless.at("spec.publishNotReadyAddresses") != true {
		say("nodes do not find each other by name before they are ready")
	}
	if got := fmt.Sprint(set.at("spec.selector.matchLabels")); got != pod {
		say("the set selects %s, but its pods are %s", got, pod)
	}
	container := tree{}
	if c := set.list("spec.template.spec.containers"); len(c) == 1 {
		container = c[0]
	}
	ports := map[string]bool{}
	for _, p := range container.list("ports") {
		ports[fmt.Sprint(p["name"])] = true
	}
	for _, d := range all {
		if d.at("kind") != "Service" {
			continue
		}
		if got := fmt.Sprint(d.at("spec.selector")); got != pod {
			say("service %v selects %s, but pods are %s", d.at("metadata.name"), got, pod)
		}
		for _, p := range d.list("spec.ports") {
			if !ports[fmt.Sprint(p["targetPort"])] {
				say("service %v has port %v, which no container has", d.at("metadata.name"), p["targetPort"])
			}
		}
	}
	for probe, want := range map[string]string{"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
		get := probe + ".httpGet."
		path, port, scheme := container.at(get+"path"), container.at(get+"port"), container.at(get+"scheme")
		if path != want || port != "health" || !ports["health"] || scheme != nil {
			say("%s asks %v at port %v", probe, path, port)
		}
	}
	for _, p := range container.list("ports") {
		if at := settings(container)["STILE_HEALTH"]; p["name"] == "health" && at != fmt.Sprintf("0.0.0.0:%v", p["containerPort"]) {
			say("probes are served on %s, not on %v", at, p["containerPort"])
		}
	}
	budget := find("PodDisruptionBudget", "stile")
	if got := fmt.Sprint(budget.at("spec.selector.matchLabels")); got != pod || budget.at("spec.maxUnavailable") != 1 {
		say("the disruption budget is for %s", got)
	}
	found = append(found, wrongVolumes(set, container)...)
	found = append(found, wrongSecrets(set, container)...)
	found = append(found, wrongAccess(find("ConfigMap", "stile-access"), set, container)...)
	found = append(found, wrongNetwork(find("NetworkPolicy", "stile"), pod, ports)...)
	return append(found, wrongSettings(set, container, governing)...)
}

// wrongVolumes checks that each mount has a volume, and that what nodes store survives them.
func wrongVolumes(set, container tree) (found []string) {
	volumes := map[any]bool{}
	for _, v := range set.list("spec.template.spec.volumes") {
		volumes[v["name"]] = true
	}
	for _, v := range set.list("spec.volumeClaimTemplates") {
		volumes[v.at("metadata.name")] = true
	}
	mounted := ""
	for _, m := range container.list("volumeMounts") {
		if !volumes[m["name"]] {
			found = append(found, fmt.Sprintf("mount %v has no volume", m["name"]))
		}
		if m["name"] == "data" {
			mounted = fmt.Sprint(m["mountPath"])
		}
	}
	if d := settings(container)["STILE_DATA"]; mounted == "" || !strings.HasPrefix(d, mounted+"/") {
		found = append(found, fmt.Sprintf("data is stored in %q, and the volume is at %q", d, mounted))
	}
	if set.at("spec.persistentVolumeClaimRetentionPolicy.whenDeleted") != "Retain" {
		found = append(found, "volumes are deleted with the set")
	}
	return found
}

// wrongSecrets checks that each node has a secret of its own, and sees no other.
func wrongSecrets(set, container tree) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	env, n := settings(container), 0
	for _, v := range set.list("spec.template.spec.volumes") {
		if v["name"] != "certificates" {
			continue
		}
		for _, source := range v.list("projected.sources") {
			name := fmt.Sprintf("%v-%d", set.at("metadata.name"), n)
			var files []string
			for _, item := range source.list("secret.items") {
				files = append(files, fmt.Sprint(item["key"], "=", item["path"]))
			}
			want := []string{"ca.crt=" + name + "/ca.crt", "tls.crt=" + name + "/tls.crt", "tls.key=" + name + "/tls.key"}
			if source.at("secret.name") != name || !slices.Equal(files, want) {
				say("secret %v has %q, want %s with %q", source.at("secret.name"), files, name, want)
			}
			n++
		}
	}
	if n != set.at("spec.replicas") {
		say("%d secrets for %v nodes", n, set.at("spec.replicas"))
	}
	for _, m := range container.list("volumeMounts") {
		if m["name"] != "certificates" {
			continue
		}
		own := fmt.Sprint(m["mountPath"])
		if m["subPathExpr"] != "$(STILE_NAME)" || env["STILE_CA"] != own+"/ca.crt" || env["STILE_CERT"] != own+"/tls.crt" || env["STILE_KEY"] != own+"/tls.key" {
			say("a pod sees %v of the secrets, and uses %s", m["subPathExpr"], env["STILE_KEY"])
		}
	}
	return found
}

// wrongAccess checks that the files of rights and of revoked certificates are where nodes look
// for them, and that they can be updated.
func wrongAccess(files, set, container tree) (found []string) {
	data, _ := files.at("data").(map[string]any)
	env := settings(container)
	for _, m := range container.list("volumeMounts") {
		if m["name"] != "access" {
			continue
		}
		for key, name := range map[string]string{"STILE_RIGHTS": "rights.toml", "STILE_REVOKED": "revoked"} {
			if _, ok := data[name]; !ok || env[key] != fmt.Sprint(m["mountPath"], "/", name) || m["subPath"] != nil || m["subPathExpr"] != nil {
				found = append(found, fmt.Sprintf("%s is %q", key, env[key]))
			}
		}
		text, _ := data["rights.toml"].(string)
		if _, err := rights.Parse(text, true); err != nil {
			found = append(found, err.Error())
		}
	}
	for _, v := range set.list("spec.template.spec.volumes") {
		if v["name"] == "access" && v.at("configMap.name") != files.at("metadata.name") {
			found = append(found, fmt.Sprintf("the rights are those of %v", v.at("configMap.name")))
		}
	}
	return found
}

// wrongNetwork checks that nodes reach each other, and that others reach only ports that exist.
func wrongNetwork(policy tree, pod string, ports map[string]bool) (found []string) {
	if got := fmt.Sprint(policy.at("spec.podSelector.matchLabels")); got != pod {
		found = append(found, "the network policy is for "+got)
	}
	if got := fmt.Sprint(policy.at("spec.policyTypes")); got != "[Ingress Egress]" {
		found = append(found, "the network policy is about "+got)
	}
	for way, key := range map[string]string{"ingress": "from", "egress": "to"} {
		nodes := false
		for _, r := range policy.list("spec." + way) {
			if len(r.list(key)) == 0 || len(r.list("ports")) == 0 {
				found = append(found, way+" is open")
			}
			for _, p := range r.list("ports") {
				if name, ok := p["port"].(string); ok && !ports[name] {
					found = append(found, way+" has port "+name)
				}
			}
			nodes = nodes || fmt.Sprint(r.at(key+".0.podSelector.matchLabels")) == pod && r.at("ports.0.port") == "stile"
		}
		if !nodes {
			found = append(found, way+": nodes do not reach each other")
		}
	}
	return found
}

// settings returns the environment of a container.
func settings(container tree) map[string]string {
	env := map[string]string{}
	for _, e := range container.list("env") {
		env[fmt.Sprint(e["name"])] = fmt.Sprint(e["value"])
	}
	return env
}

// wrongSettings checks that there is an address to join for each replica, that the founder
// is one of them, and that the set can be founded at all.
func wrongSettings(set, container tree, service string) (found []string) {
	env := settings(container)
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var want []string
	n, _ := set.at("spec.replicas").(int)
	for i := range n {
		want = append(want, fmt.Sprintf("%v-%d.%s:7420", set.at("metadata.name"), i, service))
	}
	if got := strings.Split(env["STILE_JOIN"], ","); !slices.Equal(got, want) {
		say("nodes to join are %q, and replicas %q", got, want)
	}
	if f := env["STILE_FOUNDER"]; n == 0 || f+"."+service+":7420" != want[0] {
		say("the founder is %q", f)
	}
	if a := "$(STILE_NAME)." + service + ":7420"; env["STILE_ADVERTISE"] != a {
		say("a node is reached at %q, want %q", env["STILE_ADVERTISE"], a)
	}
	if set.at("spec.podManagementPolicy") != "Parallel" {
		say("the founder waits for nodes that are started after it")
	}
	if set.at("spec.template.spec.enableServiceLinks") != false {
		say("the service sets STILE_ variables")
	}
	return found
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	text := readFile(t, "packaging", "kubernetes", "stile.yaml")
	if found := wrong(text); len(found) > 0 {
		t.Errorf("stile.yaml:\n%s", strings.Join(found, "\n"))
	}
	for _, x := range []struct{ old, broken string }{ // what it must find
		{"serviceName: stile", "serviceName: stiles"},
		{"clusterIP: None", "clusterIP: ''"},
		{"targetPort: stile", "targetPort: lock"},
		{"httpGet: {path: /healthz, port: health}", "httpGet: {path: /healthz, port: http}"},
		{"httpGet: {path: /readyz, port: health}", "httpGet: {path: /readyz, port: health, scheme: HTTPS}"},
		{`"0.0.0.0:7422"`, `"0.0.0.0:7423"`},
		{"name: data, mountPath", "name: date, mountPath"},
		{"value: /data/node", "value: /var/node"},
		{"stile-2.stile:7420", "stile-3.stile:7420"},
		{"replicas: 3", "replicas: 5"},
		{"FOUNDER, value: stile-0", "FOUNDER, value: stile-9"},
		{"labels: {app: stile}\n    spec:", "labels: {app: stale}\n    spec:"},
		{"Parallel", "OrderedReady"},
		{"maxUnavailable: 1", "maxUnavailable: 2"},
		{"whenDeleted: Retain", "whenDeleted: Delete"},
		{"enableServiceLinks: false", "enableServiceLinks: true"},
		{"kind: PodDisruptionBudget", "kind: PodDisruption"},
		{"  replicas: 3", " replicas: 3"},
		{"name: stile-1\n                  items", "name: stile-0\n                  items"},
		{"path: stile-2/tls.key", "path: stile-1/tls.key"},
		{", subPathExpr: $(STILE_NAME)", ""},
		{"subPathExpr: $(STILE_NAME)", "subPathExpr: stile-0"},
		{"/etc/stile/own/tls.key", "/etc/stile/tls.key"},
		{"access/rights.toml", "rights.toml"},
		{"name: stile-access}", "name: stile}"},
		{"  revoked: \"\"", "  list: \"\""},
		{"mountPath: /etc/stile/access,", "mountPath: /etc/stile/access, subPath: rights.toml,"},
		{"policyTypes: [Ingress, Egress]", "policyTypes: [Ingress]"},
		{"{protocol: TCP, port: stile}", "{protocol: TCP, port: lock}"},
		{"matchLabels: {app: stile}\n      ports:", "matchLabels: {app: stale}\n      ports:"},
		{"may = [\"lock\", \"read\"]", "may = [\"lick\", \"read\"]"},
	} {
		if !strings.Contains(text, x.old) {
			t.Errorf("stile.yaml has no %q", x.old)
		} else if len(wrong(strings.Replace(text, x.old, x.broken, 1))) == 0 {
			t.Errorf("nothing is wrong with %q", x.broken)
		}
	}
}

// wrongCompose checks the compose file: each service has its own name, address and volume,
// and joins all.
func wrongCompose(text string) (found []string) {
	all, err := documents(text)
	if err != nil || len(all) != 1 {
		return []string{fmt.Sprintf("%d documents, %v", len(all), err)}
	}
	services, _ := all[0]["services"].(map[string]any)
	volumes, _ := all[0]["volumes"].(map[string]any)
	var join []string
	for name := range services {
		join = append(join, name+":7420")
	}
	slices.Sort(join)
	for name, x := range services {
		s, _ := x.(map[string]any)
		for key, want := range map[string]string{"STILE_NAME": name, "STILE_ADVERTISE": name + ":7420", "STILE_ADDR": name + ":7420", "STILE_JOIN": strings.Join(join, ","), "STILE_FOUNDER": "a", "STILE_DATA": "/data"} {
			if got := tree(s).at("environment." + key); got != want {
				found = append(found, fmt.Sprintf("%s: %s is %v, want %s", name, key, got, want))
			}
		}
		if _, ok := volumes[name]; !ok || fmt.Sprint(s["volumes"]) != "["+name+":/data]" {
			found = append(found, fmt.Sprintf("%s has volumes %v", name, s["volumes"]))
		}
		if s["stop_grace_period"] != "30s" || s["image"] != "stile" {
			found = append(found, name+" is not a node")
		}
	}
	if len(services) != 3 {
		found = append(found, fmt.Sprintf("%d services", len(services)))
	}
	return found
}

func TestCompose(t *testing.T) {
	t.Parallel()
	text := readFile(t, "packaging", "compose.yaml")
	if found := wrongCompose(text); len(found) > 0 {
		t.Errorf("compose.yaml:\n%s", strings.Join(found, "\n"))
	}
	for _, x := range []struct{ old, broken string }{
		{"STILE_NAME: b", "STILE_NAME: a"}, {"a:7420,b:7420,c:7420", "a:7420,b:7420"}, {`["c:/data"]`, `["b:/data"]`}, {"STILE_ADDR: c:7420", "STILE_ADDR: b:7420"},
	} {
		if len(wrongCompose(strings.Replace(text, x.old, x.broken, 1))) == 0 {
			t.Errorf("nothing is wrong with %q", x.broken)
		}
	}
}
