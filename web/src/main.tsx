// The page of the lab begins here.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import "./app.css";
import "./diagram.css";
import "./panels.css";
import { refused } from "./backend";
import { listen } from "./keys";
import { doc, edit, lab } from "./state";

render(<App />, document.getElementById("app")!);
listen();
effect(() => {
	document.title = doc.value?.title ? `${doc.value.title} · stile lab` : "stile lab";
});

const start = await lab.call<{ text: string }>("start", {});
if (!refused(start)) void edit(start.text, { cursor: 0 });
