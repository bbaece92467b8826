// The types of section. A new one is a component in a file of its own and a line here.
import type { ComponentType } from "preact";
import { ConversationSection } from "./conversation/section";
import { FactsSection } from "./facts";
import { GraphSection } from "./graph";
import { MatrixSection } from "./matrix";
import { PlotSection } from "./plot";
import { StepsSection } from "./steps";
import { TableSection } from "./table";
import { TextSection } from "./text";

export const SECTIONS: ReadonlyMap<string, ComponentType<{ section: any }>> = new Map<string, ComponentType<any>>([
  ["facts", FactsSection],
  ["text", TextSection],
  ["table", TableSection],
  ["matrix", MatrixSection],
  ["plot", PlotSection],
  ["graph", GraphSection],
  ["steps", StepsSection],
  ["conversation", ConversationSection],
]);
