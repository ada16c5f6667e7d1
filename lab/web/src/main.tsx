// The page of the lab begins here.

import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import "./dialogs.css";
import "./editor.css";
import "./base.css";
import "./app.css";
import "./picture.css";
import "./diagram.css";
import "./table.css";
import "./panels.css";
import "./present.css";
import { takeFiles } from "./drop";
import { listen } from "./keys";
import { painted } from "./painted";
import { embedded } from "./present";
import { begin } from "./share";
import { doc } from "./shown";

const begun = begin(); // the lab is called at once
await painted();
const app = document.getElementById("app")!;
render(<App />, app);
app.inert = false; // until now what index.html shows does nothing
listen();
if (!embedded) takeFiles();
effect(() => {
	document.title = doc.value?.title ? `${doc.value.title} · stile lab` : "stile lab";
});

await begun;
