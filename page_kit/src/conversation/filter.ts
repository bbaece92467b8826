// Which events are shown. Many events are looked at in slices, so that typing is never held up.
import { useEffect, useState } from "preact/hooks";
import { LANE_OF, type Model } from "./model";

export interface Filter {
  text: string;
  /** Lanes and kinds that are not shown. */
  lanes: ReadonlySet<number>;
  kinds: ReadonlySet<number>;
  onlyFindings: boolean;
  thread: number | null;
}

export const EVERYTHING: Filter = {
  text: "",
  lanes: new Set(),
  kinds: new Set(),
  onlyFindings: false,
  thread: null,
};

export function isEverything(filter: Filter): boolean {
  return !filter.text && !filter.lanes.size && !filter.kinds.size && !filter.onlyFindings && filter.thread === null;
}

const LONGEST = 500;

/** A filter for the address bar; "" for none. */
export function toQuery(filter: Filter): string {
  const query = new URLSearchParams();
  if (filter.text) query.set("text", filter.text.slice(0, LONGEST));
  if (filter.lanes.size) query.set("lanes", [...filter.lanes].join("."));
  if (filter.kinds.size) query.set("kinds", [...filter.kinds].join("."));
  if (filter.onlyFindings) query.set("findings", "1");
  if (filter.thread !== null) query.set("thread", String(filter.thread));
  return query.toString();
}

/** The filter that the address bar names. It is not trusted: what this conversation has not is left out. */
export function fromQuery(text: string, model: Model): Filter {
  const query = new URLSearchParams(text);
  const numbers = (name: string, end: number) =>
    new Set((query.get(name) ?? "").split(".").filter((each) => /^\d{1,9}$/.test(each)).map(Number).filter((each) => each < end));
  const [thread] = numbers("thread", model.threads.length);
  return {
    text: (query.get("text") ?? "").slice(0, LONGEST),
    lanes: numbers("lanes", LANE_OF.length),
    kinds: numbers("kinds", model.kinds.length),
    onlyFindings: query.get("findings") === "1",
    thread: thread ?? null,
  };
}

/** What stands in the rows: an event's index, or below zero a line of fate: -1 is the first of the model's lines. */
export interface Rows {
  rows: number[];
  events: number;
}

type Matcher = (event: number) => boolean;

export function matcher({ events, findingsAt }: Model, filter: Filter): Matcher {
  const { ch, kind, head, text, thread } = events;
  const words = filter.text && new RegExp(filter.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  return (event) =>
    !filter.lanes.has(LANE_OF[ch[event]!] ?? 3) &&
    !filter.kinds.has(kind[event]!) &&
    (filter.thread === null || thread[event] === filter.thread) &&
    (!filter.onlyFindings || findingsAt.has(event)) &&
    (!words || words.test(head[event]!) || words.test(text[event]!));
}

const SLICE = 2000;
const SLICE_MS = 8;

/** The rows that `filter` leaves. While they are looked for, those of the filter before. */
export function useRows(model: Model, filter: Filter): Rows & { busy: boolean } {
  const [done, setDone] = useState<{ filter: Filter; model: Model; found: Rows } | null>(null);
  const [first] = useState(() => (isEverything(filter) ? allRows(model) : null));
  useEffect(() => search(model, filter, (found) => setDone({ filter, model, found })), [model, filter]);
  const found = done?.model === model ? done.found : (first ?? { rows: [], events: 0 });
  return { ...found, busy: done?.filter !== filter };
}

function allRows(model: Model): Rows {
  return take(model, { rows: [], events: 0 }, () => true, 0, model.count);
}

/** Search in slices, and call `finish` once. Returns what stops the search. */
function search(model: Model, filter: Filter, finish: (found: Rows) => void): () => void {
  const found: Rows = { rows: [], events: 0 };
  const matches = matcher(model, filter);
  let next = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const go = () => {
    const until = performance.now() + SLICE_MS;
    while (next < model.count && performance.now() < until) {
      take(model, found, matches, next, Math.min(next + SLICE, model.count));
      next += SLICE;
    }
    if (next < model.count) waiting = setTimeout(go);
    else finish(found);
  };
  go();
  return () => clearTimeout(waiting);
}

function take({ linesAt }: Model, found: Rows, matches: Matcher, from: number, to: number): Rows {
  for (let event = from; event < to; event++) {
    if (!matches(event)) continue;
    found.rows.push(event);
    found.events++;
    for (const line of linesAt.get(event) ?? []) found.rows.push(-1 - line);
  }
  return found;
}
