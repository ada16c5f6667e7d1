package page

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// unsaid is what of an element is not in sight, and nothing says so: neither an edge that
// fades nor a number of what else there is.
const unsaid = `(() => {
	const bad = [];
	const legend = document.querySelector(".legend");
	const fades = (e) => Number(getComputedStyle(e.parentElement, "::after").opacity) > 0 && getComputedStyle(e.parentElement, "::after").display != "none";
	if (legend && legend.scrollHeight > legend.clientHeight + 2 && !fades(legend)) bad.push("the legend is cut");
	const list = document.querySelector(".why-list"), end = list.getBoundingClientRect().bottom;
	const whole = [...list.querySelectorAll("p")].filter((p) => p.getBoundingClientRect().bottom <= end + 1);
	if (!fades(list) && [...list.querySelectorAll("p")].some((p) => { const b = p.getBoundingClientRect(); return b.top < end - 1 && b.bottom > end + 1 })) bad.push("a reason is cut");
	const waiting = [...document.querySelectorAll(".states .wait-for")].filter((e) => e.innerText.trim() != "").length;
	const more = document.querySelector(".why .more");
	const said = whole.filter((p) => p.className == "reason").length + Number(more?.innerText.match(/\d+/)?.[0] ?? 0);
	if (said != waiting) bad.push(said + " of " + waiting + " reasons are said or counted");
	if (more && more.getBoundingClientRect().bottom > document.querySelector(".controls").getBoundingClientRect().top + 1) bad.push("how many more wait is below the controls");
	const title = document.querySelector("h1");
	if (title.scrollHeight > title.clientHeight + 1 && title.title != title.textContent) bad.push("the title is cut");
	return bad.join("; ");
})()`

// Where there is no room for all of something, it is not cut in the middle without a sign.
func TestNothingIsCutUnsaid(t *testing.T) {
	t.Parallel()
	for _, name := range some(3, []string{"suzuki-kasami+bully-joins", "ricart-agrawala+bully-joins", "central-queue", "raymond-a", "majority-split", "maekawa-grid-3-23", "graph-deadlock", "detect-central-false-cycle-batch"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := show(t, example(t, name))
			p.media("prefers-reduced-motion", "reduce")
			for _, high := range []int64{800, 600} {
				p.do(chromedp.EmulateViewport(1280, high))
				p.key(kb.Home)
				for i := range 14 {
					p.trying = fmt.Sprintf("%d pixels high, step %d", high, i)
					p.key(kb.ArrowRight)
					if said := eval[string](p, `new Promise(async (done) => {
						for (let i = 0; i < 20 && `+unsaid+` != ""; i++) await new Promise(requestAnimationFrame);
						done(`+unsaid+`);
					})`); said != "" {
						t.Fatalf("%s: %s", p.trying, said)
					}
				}
			}
		})
	}
}

// The legend is there as a whole where there is room for it.
func TestLegendIsWhole(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "suzuki-kasami+bully-joins"))
	p.until(`((e) => e.scrollHeight <= e.clientHeight + 2 && e.children.length > 12)(document.querySelector(".legend"))`)
}

// Lanes of transactions below those of sites are all visible beside captions, above the time of
// the cursor, and the page needs no scrollbar.
func TestRoomForSites(t *testing.T) {
	t.Parallel()
	roomForSites(t)
}

func roomForSites(t testing.TB) {
	for _, name := range []string{"detect-central-two-sites-demand", "detect-central-coordinator-dies", "none-two-sites"} {
		p := show(t, example(t, name))
		p.trying = name
		for _, size := range [][2]int64{{1440, 900}, {1280, 800}} {
			p.do(chromedp.EmulateViewport(size[0], size[1]))
			for _, key := range []string{kb.Home, "s", kb.End} {
				p.key(key)
				p.until(`document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("main > section")].every((e) => e.scrollHeight <= e.clientHeight)`)
				p.until(`((plot, now, last) => plot.scrollHeight <= plot.clientHeight && last.bottom <= now.top)(document.querySelector(".plot"), document.querySelector(".now-line span").getBoundingClientRect(), [...document.querySelectorAll(".plot-names text")].at(-1).getBoundingClientRect())`)
			}
		}
	}
}
