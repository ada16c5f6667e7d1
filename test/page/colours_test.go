package page

import (
	"math"
)

// A sight is how an eye sees red, green and blue light, each as a mixture of the three: after
// Machado, Oliveira and Fernandes, for eyes that lack one kind of cone.
type sight [3][3]float64

var sights = map[string]sight{
	"all colours":   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"without red":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"without green": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"without blue":  {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen is a colour as an eye sees it: lightness and two directions of colour (CIELAB).
func (s sight) seen(rgb [3]float64) [3]float64 {
	var in, out, xyz [3]float64
	for i, v := range rgb {
		v /= 255
		if in[i] = v / 12.92; v > 0.04045 {
			in[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range out {
		out[i] = min(1, max(0, s[i][0]*in[0]+s[i][1]*in[1]+s[i][2]*in[2]))
	}
	for i, m := range [3][3]float64{{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0178, 0.1095, 0.8727}} {
		v := m[0]*out[0] + m[1]*out[1] + m[2]*out[2]
		if xyz[i] = 7.787*v + 16.0/116; v > 0.008856 {
			xyz[i] = math.Cbrt(v)
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

// distinct reports colours that mean something and that an eye could take for each other: who
// waits, is inside or idle, what is broken, and where the cursor is.
func distinct(p *page) {
	p.t.Helper()
	names := []string{"paper", "orange", "green", "alarm", "accent"}
	for _, scheme := range []string{"light", "dark"} {
		p.media("prefers-color-scheme", scheme)
		var colours [][3]float64
		for _, name := range names {
			colours = append(colours, eval[[3]float64](p, `(() => { const e = document.body.appendChild(document.createElement("p")); e.style.color = "var(--`+name+`)"; const c = getComputedStyle(e).color.match(/[\d.]+/g).slice(0, 3).map(Number); e.remove(); return c })()`))
		}
		for eye, sight := range sights {
			for i := range colours {
				for j := range i {
					a, b := sight.seen(colours[i]), sight.seen(colours[j])
					if far := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); far < 12 {
						p.t.Errorf("%s, %s: %s and %s are only %.1f apart", scheme, eye, names[i], names[j], far)
					}
				}
			}
		}
	}
}
