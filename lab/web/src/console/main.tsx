// The page of the console begins here.

import { render } from "preact";
import "../base.css";
import "../table.css";
import "./console.css";
import "./overview.css";
import "./locks.css";
import { painted } from "../painted";
import { App, announce } from "./app";
import { watchSight } from "./contact";
import { watchNode } from "./gone";
import { listen } from "./keys";

watchSight();
watchNode();
await painted();
render(<App />, document.getElementById("app")!);
announce();
listen();
