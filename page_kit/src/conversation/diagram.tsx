// The sequence diagram: lanes, and a row for each event; only rows in view stand in the DOM.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useNear, useVirtual, MOST_ROWS } from "../virtual";
import { LANES, type Model } from "./model";
import { EventRow, FateRow } from "./row";
import { Ruler } from "./ruler";
import type { Choice } from "./section";

export const ROW_HEIGHT = 30;

interface DiagramProps {
  model: Model;
  rows: number[];
  choice: Choice;
  choose: (event: number) => void;
  label: string;
  thread: number;
}

let firstRowShown = false;

export function Diagram({ model, rows, choice, choose, label, thread }: DiagramProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const near = useNear(scroller);
  const virtual = useVirtual({ count: rows.length, rowHeight: ROW_HEIGHT, scroller });
  const related = useMemo(() => relatedEvents(model, choice.event), [model, choice.event]);
  const place = rows.indexOf(choice.event);
  const scrolled = useRef<{ jump: number; rows: number[] | null }>({ jump: 0, rows: null });
  useLayoutEffect(() => {
    const done = scrolled.current.jump === choice.jump && scrolled.current.rows === rows;
    if (!near || done) return;
    scrolled.current = { jump: choice.jump, rows };
    if (place >= 0) virtual.scrollToIndex(place, { align: "center" });
  }, [choice.jump, near, rows]);
  const items = near ? virtual.getVirtualItems() : [];
  useEffect(() => markFirstRow(items.length), [items.length]);

  const keys = (event: KeyboardEvent) => {
    const next = nextPlace(event.key, place, rows);
    if (next === null) return;
    event.preventDefault();
    choose(rows[next]!);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  const height = Math.min(rows.length, MOST_ROWS) * ROW_HEIGHT;
  return (
    <div class="diagram">
      <div class="lanes" aria-hidden="true">
        <span class="lanes-seq">#</span>
        <span class="lanes-time">time</span>
        <span class="lanes-delta">since last</span>
        <div class="lanes-names">
          {LANES.map((lane, index) => (
            <span key={lane} class={`lane-name lane-name-${index}`}>
              {lane}
            </span>
          ))}
        </div>
      </div>
      <div class="diagram-body">
        <div
          class="rows"
          ref={scroller}
          tabIndex={0}
          role="listbox"
          aria-label={`Events of ${label}`}
          aria-activedescendant={place >= 0 ? rowId(label, choice.event) : undefined}
          onKeyDown={keys}
        >
          <div class="rows-space" role="presentation" style={{ height: `${height}px` }}>
            {items.map(({ index, start }) => {
              const event = rows[index]!;
              return event < 0 ? (
                <FateRow key={event} line={model.lines[-1 - event]!} start={start} />
              ) : (
                <EventRow
                  key={event}
                  id={rowId(label, event)}
                  model={model}
                  event={event}
                  before={eventBefore(rows, index)}
                  start={start}
                  position={index + 1}
                  total={rows.length}
                  chosen={event === choice.event}
                  inThread={thread >= 0 && model.events.thread[event] === thread}
                  related={related.has(event)}
                  choose={choose}
                />
              );
            })}
          </div>
          {rows.length === 0 && <p class="empty">{model.count === 0 ? "Nothing was said." : "No event is left by the filters."}</p>}
        </div>
        {height > (virtual.scrollRect?.height ?? 0) && (
          <Ruler model={model} rows={rows} jump={(index) => virtual.scrollToIndex(index, { align: "center" })} />
        )}
      </div>
      {rows.length > MOST_ROWS && (
        <p class="quiet">Only the first {MOST_ROWS.toLocaleString("en")} rows are shown: use the filters to see others.</p>
      )}
    </div>
  );
}

function rowId(label: string, event: number): string {
  return `event-${label.replace(/\W/g, "")}-${event}`;
}

function relatedEvents({ findingsAt, relatedTo, events }: Model, event: number): Set<number> {
  const seqs = new Set((findingsAt.get(event) ?? []).flatMap(({ related }) => related ?? []));
  for (const { seq } of relatedTo.get(event) ?? []) if (seq !== null) seqs.add(seq);
  const found = new Set<number>();
  if (seqs.size > 0) events.seq.forEach((seq, index) => seqs.has(seq) && found.add(index));
  return found;
}

function eventBefore(rows: number[], index: number): number {
  for (let before = index - 1; before >= 0; before--) if (rows[before]! >= 0) return rows[before]!;
  return -1;
}

const PAGE = 15;

/** Where a key leads from `place`, past lines of fate; null if it leads nowhere. */
function nextPlace(key: string, place: number, rows: number[]): number | null {
  const moves: Record<string, [number, number]> = {
    ArrowDown: [place + 1, 1],
    ArrowUp: [place - 1, -1],
    PageDown: [Math.min(place + PAGE, rows.length - 1), -1],
    PageUp: [Math.max(place - PAGE, 0), 1],
    Home: [0, 1],
    End: [rows.length - 1, -1],
  };
  if (!Object.hasOwn(moves, key)) return null;
  let [next, by] = moves[key]!;
  while (rows[next] !== undefined && rows[next]! < 0) next += by;
  return rows[next] === undefined ? null : next;
}

/** The mark `first-row`, for who measures how soon a page is there. */
function markFirstRow(count: number): void {
  if (firstRowShown || count === 0) return;
  firstRowShown = true;
  requestAnimationFrame(() => performance.mark("first-row"));
}
