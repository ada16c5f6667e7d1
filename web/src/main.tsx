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

const app = document.getElementById("app")!;
render(<App />, app);
app.inert = false; // what index.html shows until now does nothing yet
listen();
effect(() => {
	document.title = doc.value?.title ? `${doc.value.title} · stile lab` : "stile lab";
});

await begin();
