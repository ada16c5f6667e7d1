// The page of the lab begins here.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import "./dialogs.css";
import "./editor.css";
import "./app.css";
import "./diagram.css";
import "./panels.css";
import "./present.css";
import { listen } from "./keys";
import { begin } from "./share";
import { doc } from "./state";

const begun = begin(); // the lab is called at once
await painted();
const app = document.getElementById("app")!;
render(<App />, app);
app.inert = false; // until now what index.html shows does nothing
listen();
effect(() => {
	document.title = doc.value?.title ? `${doc.value.title} · stile lab` : "stile lab";
});

await begun;

/**
 * painted waits until what index.html shows has been painted, so that the user does not
 * wait for that until the script has done its work.
 */
function painted(): Promise<void> {
	return new Promise((done) => {
		requestAnimationFrame(() => setTimeout(done));
		setTimeout(done, 100); // a page that is not visible gets no frames
	});
}
