// The page document (schemas/page.schema.json) as types, and how it comes out of the page.

export type Tone = "good" | "warn" | "bad" | "muted" | "plain";
export type Fate = "survives" | "ignored" | "loses-data" | "fails-tuple" | "hangs" | "dies" | "unknown";
export type Level = "must" | "should" | "note";

interface Common {
  id: string;
  type: string;
  title: string;
  note?: string;
  folded?: boolean;
}

export interface Facts extends Common {
  rows: [string, string][];
}

export interface Step {
  seq: number;
  side: "storm" | "component" | "process";
  text: string;
  mark?: boolean;
}

export interface Text extends Common {
  paragraphs: string[];
  sequence?: Step[];
  command?: string;
  code?: string;
}

export type Cell = string | number | null | { text: string; tone?: Tone; to?: string; value?: number };

export interface Table extends Common {
  columns: { name: string; align?: "left" | "right" }[];
  rows: Cell[][];
}

export interface MatrixCell {
  text: string;
  tone: Tone;
  detail?: string;
  file?: string;
}

export interface MatrixRow {
  name: string;
  detail?: string;
  cells: (MatrixCell | null)[];
}

export interface Matrix extends Common {
  corner: string;
  columns: { name: string; note?: string }[];
  groups: [string, MatrixRow[]][];
}

export interface Series {
  name: string;
  x: number[];
  y: (number | null)[];
  style: "points" | "line" | "steps" | "bars";
  to?: (string | null)[];
}

export interface Plot extends Common {
  x: { label: string; unit?: string };
  y: { label: string; unit?: string; log?: boolean };
  series: Series[];
  bands?: Band[];
}

/** Values of y, or of x where `along` says so, that mean something. */
export interface Band {
  from: number;
  to: number;
  label: string;
  tone?: Tone;
  along?: "x" | "y";
}

export interface GraphNode {
  id: string;
  label: string;
  detail?: string;
  tone?: Tone;
  to?: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  label?: string;
  tone?: Tone;
}

export interface GraphData {
  nodes: GraphNode[];
  edges: GraphEdge[];
  direction?: "TB" | "LR";
}

export interface Step {
  text: string;
  ack_val?: string;
  to?: string;
  node?: string;
  tone?: Tone;
}

export interface Steps extends Common {
  graph: GraphData;
  steps: Step[];
}

export interface Finding {
  seq: number | null;
  rule: string;
  title: string;
  level: Level;
  message: string;
  related?: number[];
  clause?: string;
  source?: string;
  why?: string;
  mend?: string;
  fates?: { versions: string; fate: Fate; error?: string }[];
}

export interface Outlook {
  version: string;
  fate: Fate;
  seq: number | null;
  sentence: string;
}

export interface Events {
  seq: number[];
  t: number[];
  ch: number[];
  kind: number[];
  head: string[];
  text: string[];
  size: number[];
  thread: number[];
}

export interface Conversation extends Common {
  events: Events;
  kinds: string[];
  threads: string[];
  findings: Finding[];
  outlook: Outlook[];
}

export type Section = Facts | Text | Table | Plot | (Common & GraphData) | Steps | Conversation;

export interface PageDocument {
  page: string;
  title: string;
  subtitle: string;
  made_by: string;
  made_at: string;
  verdict: { text: string; tone: Tone } | null;
  sections: Section[];
}

const FORMAT = /^1\./;

/** The document that the page carries: gzip in base64, in the element `document`. Throws if it is none. */
export async function readDocument(): Promise<PageDocument> {
  const carried = document.getElementById("document")?.textContent;
  if (!carried) throw new Error("the page carries no document");
  const plain = new Blob([unpack(carried)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const found: PageDocument = await new Response(plain).json();
  if (!FORMAT.test(found.page)) throw new Error(`its document has the format ${found.page}, this page shows 1.x`);
  return found;
}

/** The bytes of base64. A plain loop: Uint8Array.from takes thirty times as long. */
function unpack(base64: string): Uint8Array<ArrayBuffer> {
  const characters = atob(base64.trim());
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

const TONES = new Set<unknown>(["good", "warn", "bad", "muted", "plain"]);

/** A class for a tone of the document: one of ours, whatever the document says. */
export function toneClass(tone: Tone | undefined): string {
  return TONES.has(tone) ? `tone-${tone}` : "tone-plain";
}

const FATES: Record<Fate, Tone> = {
  survives: "good",
  ignored: "muted",
  "loses-data": "bad",
  "fails-tuple": "warn",
  hangs: "bad",
  dies: "bad",
  unknown: "muted",
};

export function fateTone(fate: Fate): Tone {
  return Object.hasOwn(FATES, fate) ? FATES[fate] : "plain";
}

const LEVELS: Record<Level, Tone> = { must: "bad", should: "warn", note: "muted" };

export function levelTone(level: Level): Tone {
  return Object.hasOwn(LEVELS, level) ? LEVELS[level] : "plain";
}
