// Numbers, moments and durations in words.

/** duration returns a duration in seconds, with two or three significant digits. */
export function duration(s: number): string {
	if (!Number.isFinite(s)) return "–";
	if (s < 0) return `−${duration(-s)}`;
	if (s === 0) return "0 s";
	if (s < 0.001) return `${significant(s * 1e6)} µs`;
	if (s < 1) return `${significant(s * 1e3)} ms`;
	if (s < 100) return `${significant(s)} s`;
	return age(s);
}

/** age returns how long ago something was, in whole seconds. */
export function age(s: number): string {
	const whole = Math.max(0, Math.floor(s));
	if (whole < 60) return `${whole} s`;
	const [minutes, hours, days] = [Math.floor(whole / 60), Math.floor(whole / 3600), Math.floor(whole / 86_400)];
	if (minutes < 60) return `${minutes} min ${whole % 60} s`;
	if (hours < 48) return `${hours} h ${minutes % 60} min`;
	return `${days} d ${hours % 24} h`;
}

/** ago returns how long ago something was, about. */
export function ago(s: number): string {
	if (s < 2) return "now";
	if (s < 100) return `${Math.floor(s)} s ago`;
	if (s < 6000) return `${Math.round(s / 60)} min ago`;
	return s < 172_800 ? `${Math.round(s / 3600)} h ago` : `${Math.round(s / 86_400)} d ago`;
}

/** significant returns a number with at most three digits that say something. */
function significant(n: number): string {
	return n >= 99.95 ? String(Math.round(n)) : n >= 9.95 ? fixed(n, 1) : fixed(n, 2);
}

function fixed(n: number, digits: number): string {
	return String(Number(n.toFixed(digits)));
}

/** rate returns a number per second. */
export function rate(n: number | undefined): string {
	if (n === undefined || !Number.isFinite(n)) return "–";
	if (n > 0 && n < 0.005) return "<0.01";
	return n === 0 ? "0" : n < 9.995 ? n.toFixed(2) : n < 99.95 ? n.toFixed(1) : compact(n);
}

/** compact returns a number in few letters. */
export function compact(n: number): string {
	if (n < 10_000) return count(Math.round(n));
	if (n < 999_500) return `${significant(n / 1e3)}k`;
	return n < 999_500_000 ? `${significant(n / 1e6)}M` : `${significant(n / 1e9)}G`;
}

/** count returns a whole number. */
export function count(n: number): string {
	return n.toLocaleString("en");
}

/** some returns a number of things in words. */
export function some(n: number, one: string, many = `${one}s`): string {
	return `${count(n)} ${n === 1 ? one : many}`;
}

const daily = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dated = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** clock returns a moment as the time of the day, with its date if that is not today's. */
export function clock(ms: number, today = Date.now()): string {
	return (new Date(ms).toDateString() === new Date(today).toDateString() ? daily : dated).format(ms);
}

/** iso returns a moment for machines. */
export function iso(ms: number): string {
	return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : "";
}
