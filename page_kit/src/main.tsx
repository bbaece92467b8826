// The entry: read the document, show it in place of the static page; if that fails, say so above the static page.
import { render } from "preact";
import { readDocument, type PageDocument } from "./document";
import { Page } from "./page";
import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/sections.css";
import "./style/matrix.css";
import "./style/graph.css";
import "./style/conversation.css";
import "./style/diagram.css";
import "./style/detail.css";
import "./style/print.css";

function show(page: PageDocument): void {
  const root = document.createElement("div");
  root.className = "page";
  const fixed = [...document.body.children].filter((element) => element.tagName !== "SCRIPT");
  render(<Page page={page} />, root);
  document.body.append(root);
  for (const element of fixed) element.remove();
}

function excuse(error: unknown): void {
  const sentence = document.createElement("p");
  sentence.className = "excuse";
  sentence.setAttribute("role", "alert");
  const reason = error instanceof Error ? error.message : String(error);
  sentence.textContent = `Only the summary is shown, because ${reason}.`;
  document.body.prepend(sentence);
}

readDocument().then(show).catch(excuse);
