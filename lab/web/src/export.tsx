// Export: the picture, the run and the text, for use elsewhere.

import type { Exported } from "./answers";
import { type Refusal, refused } from "./backend";
import { copy, copyCommand } from "./copy";
import type { Doc } from "./document";
import { Panel } from "./panel";
import { groupMovie, groupPicture } from "./picture";
import { type Recording, recordingId } from "./recorded";
import { save } from "./save";
import { addressOf, share } from "./share";
import { cursor, doc, notice } from "./shown";
import { fault, lab, text } from "./state";

interface Way {
	name: string;
	about: string;
	as: string; // format name in the lab's call
	then: (it: Exported) => Promise<void> | void;
	/** The label of its button. */
	verb: string;
}

const ways: Way[] = [
	{ name: "SVG", about: "The space-time diagram, sharp at any size.", as: "svg", then: keep, verb: "Save" },
	{ name: "PNG", about: "The same as pixels, for slides and chats.", as: "svg", then: pixels, verb: "Save" },
	{ name: "JSON", about: "The whole run for a program: every event, with its time and its message.", as: "json", then: keep, verb: "Save" },
	{ name: "ShiViz", about: "A log with vector clocks, for the ShiViz viewer of causality.", as: "shiviz", then: keep, verb: "Save" },
];

function keep(it: Exported): void {
	save(it.file, new Blob([it.data], { type: it.media }));
	notice.value = `${it.file} is saved.`;
}

/** pixels paints an SVG on a canvas at double size, and saves that. */
async function pixels(it: Exported): Promise<void> {
	const light = it.data.replace(/<style>@media \(prefers-color-scheme: dark\).*?<\/style>/s, ""); // as on paper
	const url = URL.createObjectURL(new Blob([light], { type: "image/svg+xml" }));
	try {
		const image = new Image();
		image.src = url;
		await image.decode();
		const canvas = document.createElement("canvas");
		const scale = Math.min(2, 16_000 / Math.max(image.naturalWidth, image.naturalHeight));
		canvas.width = Math.ceil(image.naturalWidth * scale);
		canvas.height = Math.ceil(image.naturalHeight * scale);
		const pen = canvas.getContext("2d")!;
		pen.fillStyle = "#ffffff";
		pen.fillRect(0, 0, canvas.width, canvas.height);
		pen.drawImage(image, 0, 0, canvas.width, canvas.height);
		const png = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
		if (!png) throw new Error("the picture is too large");
		const file = it.file.replace(/\.svg$/, "") + ".png";
		save(file, png);
		notice.value = `${file} is saved.`;
	} catch (err) {
		notice.value = `The PNG cannot be made (${err instanceof Error ? err.message : "the browser cannot paint the picture"}): save the SVG instead.`;
	} finally {
		URL.revokeObjectURL(url);
	}
}

async function take(way: Way): Promise<void> {
	notice.value = "";
	const answer: Exported | Refusal = await lab.call<Exported>("export", { text: text.value, as: way.as });
	if (refused(answer)) notice.value = `The ${way.name} cannot be made: ${answer.error.text}`;
	else await way.then(answer);
}

/** fileName returns a name for a file of the current run. */
async function fileName(end: string): Promise<string> {
	const answer = await lab.call<Exported>("export", { text: text.value, as: "scenario" });
	return `${refused(answer) ? "scenario" : answer.file.replace(/\.stile$/, "")}${end}`;
}

/** savePicture saves the picture of the group, perhaps animated. */
async function savePicture(animated: boolean): Promise<void> {
	const data = animated ? await groupMovie() : groupPicture();
	if (data === "") notice.value = animated ? "The animation cannot be made: it needs a run of at most 200 steps. Add a line such as until 50." : "There is no picture yet: correct the text first.";
	else keep({ file: await fileName(animated ? "-animated.svg" : "-group.svg"), media: "image/svg+xml", data });
}

/** savePage saves one HTML file with the run and everything that shows it. */
async function savePage(): Promise<void> {
	const run = async (spacing: string) => lab.call<Doc>("run", { text: text.value, spacing });
	const [time, event] = [await run("time"), await run("event")];
	if (refused(time) || refused(event)) {
		notice.value = "The page cannot be made: the text has an error.";
		return;
	}
	try {
		const [script, style] = await Promise.all(["app.js", "app.css"].map(async (name) => (await fetch(name)).text()));
		const recording: Recording = { text: text.value, time, event };
		const data = JSON.stringify(recording).replaceAll("<", "\\u003c");
		const title = (doc.value?.title ?? "stile lab").replace(/[&<]/g, (c) => (c === "&" ? "&amp;" : "&lt;"));
		keep({
			file: await fileName(".html"), media: "text/html",
			data: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="stile-backend" content="file">
<title>${title}</title>
<style>${style!.replaceAll("</style", "<\\/style")}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="${recordingId}">${data}</script>
<script type="module">${script!.replaceAll("</script", "<\\/script")}</script>
</body>
</html>
`,
		});
	} catch {
		notice.value = "The page cannot be made: its script cannot be fetched. Is the lab still running?";
	}
}

/** copyFrame copies the element that shows this run in another page. */
async function copyFrame(): Promise<void> {
	const url = await addressOf({ text: text.value, cursor: cursor.value });
	url.searchParams.set("embed", "");
	await copy(`<iframe src="${url.href.replaceAll("&", "&amp;")}" width="900" height="500" title="${(doc.value?.title ?? "").replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`, "The frame");
}

/**
 * saveText saves the scenario, even with an error in it, under the name that the command
 * line uses.
 */
async function saveText(): Promise<void> {
	const answer = await lab.call<Exported>("export", { text: text.value, as: "scenario" });
	keep(refused(answer) ? { file: "scenario.stile", media: "text/plain", data: text.value } : answer);
}

export function Export() {
	return (
		<Panel name="export" title="Share and export" lead="Take the run with you. Everything is made from the text.">
			{fault.value && <p class="trouble" role="alert">Line {fault.value.line} of the text has an error: correct it first. The scenario itself can be saved as it is.</p>}
			<ul class="exports">
				<Row name="Address" about="Contains the text and your position in it. Anyone who opens it sees what you see; nothing is stored elsewhere.">
					<button type="button" data-first aria-label="Copy Address" onClick={() => void share()}>Copy</button>
				</Row>
				{ways.map((way) => (
					<Row key={way.name} name={way.name} about={way.about}>
						<button type="button" aria-label={`${way.verb} ${way.name}`} onClick={() => void take(way)}>{way.verb}</button>
					</Row>
				))}
				<Row name="Group" about="The picture of the group as it is now, or animated: the whole run, step by step.">
					<button type="button" aria-label="Save Group" onClick={() => void savePicture(false)}>Save</button>
					<button type="button" aria-label="Save animated Group" onClick={() => void savePicture(true)}>Animated</button>
				</Row>
				<Row name="Page" about="One HTML file that plays this run anywhere, without a server: for a slide or a blog.">
					<button type="button" aria-label="Save Page" onClick={() => void savePage()}>Save</button>
				</Row>
				<Row name="Frame" about="An element for your own page that shows this run. 'stile-lab --embed ORIGIN' allows it.">
					<button type="button" aria-label="Copy Frame" onClick={() => void copyFrame()}>Copy</button>
				</Row>
				<Row name="Scenario" about="The text itself, as a file: open it with stile-lab open, run it with stile-lab replay.">
					<button type="button" aria-label="Copy Scenario" onClick={() => void copy(text.value, "The scenario")}>Copy</button>
					<button type="button" aria-label="Save Scenario" onClick={() => void saveText()}>Save</button>
				</Row>
				<Row name="Command line" about="Replays the saved scenario in a terminal.">
					<button type="button" aria-label="Copy Command line" onClick={() => void copyCommand()}>Copy</button>
				</Row>
			</ul>
		</Panel>
	);
}

function Row({ name, about, children }: { name: string; about: string; children: preact.ComponentChildren }) {
	return (
		<li>
			<div>
				<strong>{name}</strong>
				<span>{about}</span>
			</div>
			<div class="exports-do">{children}</div>
		</li>
	);
}
