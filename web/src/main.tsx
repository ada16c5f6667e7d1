// The page of the lab begins here.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import "./dialogs.css";
import "./editor.css";
import "./app.css";
import "./diagram.css";
import "./panels.css";
import { listen } from "./keys";
import { begin } from "./share";
import { doc } from "./state";

const begun = begin(); // the lab is asked at once
await painted();
const app = document.getElementById("app")!;
render(<App />, app);
app.inert = false; // what index.html shows until now does nothing yet
listen();
effect(() => {
	document.title = doc.value?.title ? `${doc.value.title} · stile lab` : "stile lab";
});

await begun;

/** painted waits until what index.html shows was painted, so that nobody waits for that until the script has done its work. */
function painted(): Promise<void> {
	return new Promise((done) => {
		requestAnimationFrame(() => setTimeout(done));
		setTimeout(done, 100); // of what cannot be seen there are no pictures
	});
}
