// A conversation: what Storm would have done, the filters, the sequence diagram, and beside it what is chosen.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Conversation } from "../document";
import { useLinks, useReveal } from "../links";
import { Detail } from "./detail";
import { Diagram } from "./diagram";
import { EVERYTHING, type Filter, fromQuery, matcher, toQuery, useRows } from "./filter";
import { Filters } from "./filters";
import { FindingBar } from "./findingbar";
import { indexOf, makeModel, type Model } from "./model";
import { OutlookLines } from "./outlook";

export interface Choice {
  event: number;
  /** Counts up with each jump: then the diagram scrolls there. */
  jump: number;
}

const NOTHING: Choice = { event: -1, jump: 0 };

export function ConversationSection({ section }: { section: Conversation }) {
  const model = useMemo(() => makeModel(section), [section]);
  const links = useLinks();
  const [filter, setFilter] = useState<Filter>(() => fromQuery(links.query(section.id), model));
  const [choice, setChoice] = useState<Choice>(() => firstChoice(model));
  const [said, setSaid] = useState("");
  const found = useRows(model, filter);
  const root = useRef<HTMLDivElement>(null);

  const keep = (next: Filter) => {
    setFilter(next);
    links.keep(section.id, toQuery(next));
  };
  /** Choose an event, and bring it into view; filters that hide it are lifted. */
  const jump = (event: number) => {
    const hidden = event >= 0 && !matcher(model, filter)(event);
    if (hidden) keep(EVERYTHING);
    setSaid(hidden ? "The filters hid this event: they are lifted." : "");
    setChoice((before) => ({ event, jump: before.jump + 1 }));
  };
  const choose = (event: number) => {
    setSaid("");
    setChoice((before) => ({ ...before, event }));
  };
  const change = (next: Filter) => {
    setSaid("");
    keep(next);
  };
  useReveal(section.id, (seq) => {
    const event = indexOf(model.events.seq, seq);
    if (event >= 0) jump(event);
    else setSaid(`There is no event ${seq} in this conversation.`);
  });
  const step = (by: number) => {
    const next = nextFinding(model, choice.event, by);
    if (next !== null) jump(next);
  };
  useFindingKeys(root, step);

  return (
    <div class="conversation" ref={root}>
      <OutlookLines outlook={section.outlook} model={model} jump={jump} />
      <FindingBar model={model} chosen={choice.event} jump={jump} step={step} />
      <Filters model={model} filter={filter} change={change} found={found} chosen={choice.event} />
      <p class="said" role="status">
        {said}
      </p>
      <div class="conversation-panes">
        <Diagram
          model={model}
          rows={found.rows}
          choice={choice}
          choose={choose}
          label={section.title}
          thread={choice.event < 0 ? -1 : model.events.thread[choice.event]!}
        />
        <Detail model={model} event={choice.event} jump={jump} filter={filter} change={change} />
      </div>
    </div>
  );
}

/** At first the first finding is chosen, a must before others. */
function firstChoice({ findings, places }: Model): Choice {
  const must = findings.findIndex((finding, at) => finding.level === "must" && places[at]! >= 0);
  const first = must >= 0 ? must : places.findIndex((place) => place >= 0);
  return first < 0 ? NOTHING : { event: places[first]!, jump: 1 };
}

/** The event of the next finding after `event` (`by` 1) or before it (-1); round the ends. Null if there is none. */
function nextFinding({ places }: Model, event: number, by: number): number | null {
  const pinned = [...new Set(places)].filter((place) => place >= 0).sort((one, other) => one - other);
  if (pinned.length === 0) return null;
  if (by > 0) return pinned.find((place) => place > event) ?? pinned[0]!;
  return pinned.findLast((place) => place < event) ?? pinned.at(-1)!;
}

/** The keys n and p, for the conversation that is most in view, wherever the focus is, save in a field. */
function useFindingKeys(root: { current: HTMLElement | null }, step: (by: number) => void): void {
  // Not useEffect: a key between what is drawn and what is done after it would start from the event before.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.target instanceof HTMLInputElement && event.target.type !== "checkbox") return;
      const by = event.key === "n" ? 1 : event.key === "p" ? -1 : 0;
      if (by === 0 || !root.current || !isForemost(root.current)) return;
      event.preventDefault();
      step(by);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

function isForemost(element: HTMLElement): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(".conversation")];
  const focused = document.activeElement?.closest(".conversation");
  return element === (focused ?? all.find((one) => one.getBoundingClientRect().bottom > innerHeight / 3) ?? all.at(-1));
}
