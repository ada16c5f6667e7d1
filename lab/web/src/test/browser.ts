// What the modules of the page ask of a browser when they are loaded. Tests import this first.

const nothing = () => {};

Object.assign(globalThis, {
	document: { querySelector: () => null, createElement: () => ({ getContext: () => null }), addEventListener: nothing, documentElement: { dataset: {} }, hidden: false },
	location: { hash: "", search: "", protocol: "http:", host: "test", pathname: "/console/", href: "http://test/console/", origin: "http://test" },
	history: { replaceState: nothing },
	matchMedia: () => ({ matches: false, addEventListener: nothing }),
	ResizeObserver: class { observe() {} unobserve() {} disconnect() {} },
	addEventListener: nothing,
	requestAnimationFrame: nothing,
	sessionStorage: { getItem: () => null, setItem: nothing, removeItem: nothing },
	localStorage: { getItem: () => null, setItem: nothing },
});

/** random returns numbers below a bound that look random and are the same in every run. */
export function random(seed = 1): (below: number) => number {
	return (below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
}
