// A conversation with the indexes that showing it needs. An event is named by its index in the columns here.
import type { Conversation, Events, Fate, Finding } from "../document";

export const CHANNELS = ["in", "out", "err", "process", "control"];
export const LANES = ["Storm", "component", "stderr", "process"];

/** The lane filter of each channel: what went in, what came out, stderr, and process with control. */
export const LANE_OF = [0, 1, 2, 3, 3];
export const LANE_FILTERS = ["to the component", "from the component", "stderr", "process"];

const STOPS: Partial<Record<Fate, string>> = {
  dies: "would have killed the worker here",
  hangs: "would have hung here",
};

export interface FateLine {
  event: number;
  fate: Fate;
  text: string;
}

export interface Model {
  events: Events;
  count: number;
  kinds: string[];
  threads: string[];
  findings: Finding[];
  /** The event of each finding; -1 for one of the conversation as a whole. */
  places: number[];
  findingsAt: Map<number, Finding[]>;
  /** Findings that name the event as related. */
  relatedTo: Map<number, Finding[]>;
  lines: FateLine[];
  linesAt: Map<number, number[]>;
}

export function makeModel({ events, kinds, threads, findings, outlook }: Conversation): Model {
  const columns = [events.t, events.ch, events.kind, events.head, events.text, events.size, events.thread];
  const count = events.seq.length;
  if (columns.some((column) => column.length !== count)) throw new Error("the columns of events differ in length");
  const places = findings.map(({ seq }) => (seq === null ? -1 : indexOf(events.seq, seq)));
  const findingsAt = new Map<number, Finding[]>();
  const relatedTo = new Map<number, Finding[]>();
  findings.forEach((finding, at) => {
    add(findingsAt, places[at]!, finding);
    for (const seq of finding.related ?? []) add(relatedTo, indexOf(events.seq, seq), finding);
  });
  const lines = fateLines(outlook, events.seq);
  const linesAt = new Map<number, number[]>();
  lines.forEach(({ event }, at) => add(linesAt, event, at));
  return { events, count, kinds, threads, findings, places, findingsAt, relatedTo, lines, linesAt };
}

function add<Value>(map: Map<number, Value[]>, key: number, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** The index of the event `seq`, by bisection; -1 if there is none. */
export function indexOf(seqs: number[], seq: number): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqs[middle]! < seq) low = middle + 1;
    else high = middle;
  }
  return seqs[low] === seq ? low : -1;
}

function fateLines(outlook: Conversation["outlook"], seqs: number[]): FateLine[] {
  const versions = new Map<string, { event: number; fate: Fate; names: string[] }>();
  for (const { version, fate, seq } of outlook) {
    const event = seq === null ? -1 : indexOf(seqs, seq);
    if (event < 0 || !Object.hasOwn(STOPS, fate)) continue;
    const key = `${event} ${fate}`;
    const known = versions.get(key);
    if (known) known.names.push(version);
    else versions.set(key, { event, fate, names: [version] });
  }
  return [...versions.values()]
    .map(({ event, fate, names }) => ({ event, fate, text: `Storm ${few(names)} ${STOPS[fate]}` }))
    .sort((one, other) => one.event - other.event);
}

const MOST_NAMED = 3;

/** Versions in a line of the diagram: the newest, where they are many. */
function few(names: string[]): string {
  return names.length <= MOST_NAMED ? inWords(names) : `${names.at(-1)} and ${names.length - 1} others`;
}

export function inWords(names: string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
