// The filters: words, lanes, kinds, only findings, only one thread.
import { useMemo } from "preact/hooks";
import { EVERYTHING, type Filter, isEverything, type Rows } from "./filter";
import { LANE_FILTERS, LANE_OF, type Model } from "./model";
import { brief, counted } from "./words";

interface FiltersProps {
  model: Model;
  filter: Filter;
  change: (filter: Filter) => void;
  found: Rows & { busy: boolean };
  chosen: number;
}

export function Filters({ model, filter, change, found, chosen }: FiltersProps) {
  const lanes = useMemo(() => new Set(model.events.ch.map((channel) => LANE_OF[channel])), [model]);
  const thread = chosen < 0 ? -1 : model.events.thread[chosen]!;
  return (
    <div class="filters" role="search" aria-label="Filter events">
      <input
        type="search"
        placeholder="Filter by words"
        aria-label="Filter events by words"
        value={filter.text}
        onInput={(event) => change({ ...filter, text: event.currentTarget.value })}
      />
      <span class="segments" role="group" aria-label="Lanes">
        {LANE_FILTERS.map((name, lane) =>
          lanes.has(lane) ? (
            <Toggle key={lane} on={!filter.lanes.has(lane)} flip={() => change({ ...filter, lanes: flipped(filter.lanes, lane) })}>
              {name}
            </Toggle>
          ) : null,
        )}
      </span>
      <Kinds model={model} filter={filter} change={change} />
      {model.findings.length > 0 && (
        <Toggle on={filter.onlyFindings} flip={() => change({ ...filter, onlyFindings: !filter.onlyFindings })}>
          only findings
        </Toggle>
      )}
      {(filter.thread !== null || thread >= 0) && (
        <Toggle
          on={filter.thread !== null}
          flip={() => change({ ...filter, thread: filter.thread === null ? thread : null })}
        >
          only {brief(model.threads[filter.thread ?? thread] ?? "this thread")}
        </Toggle>
      )}
      <span class="quiet filters-count" role="status" aria-busy={found.busy}>
        {found.events === model.count
          ? counted(model.count, "event")
          : `${found.events.toLocaleString("en")} of ${counted(model.count, "event")}`}
      </span>
      {!isEverything(filter) && (
        <button type="button" class="link" onClick={() => change(EVERYTHING)}>
          Show all
        </button>
      )}
    </div>
  );
}

function Toggle({ on, flip, children }: { on: boolean; flip: () => void; children: preact.ComponentChildren }) {
  return (
    <button type="button" class="toggle" aria-pressed={on} onClick={flip}>
      {children}
    </button>
  );
}

function Kinds({ model, filter, change }: Pick<FiltersProps, "model" | "filter" | "change">) {
  const counts = useMemo(() => {
    const found = model.kinds.map(() => 0);
    for (const kind of model.events.kind) if (kind < found.length) found[kind]!++;
    return found;
  }, [model]);
  const all = new Set(model.kinds.keys());
  const hidden = filter.kinds.size;
  return (
    <details class="kinds">
      <summary>{hidden ? `${all.size - hidden} of ${all.size} kinds` : "kinds"}</summary>
      <div class="kinds-list">
        <span class="kinds-all">
          <button type="button" class="link" onClick={() => change({ ...filter, kinds: new Set() })}>
            all
          </button>
          <button type="button" class="link" onClick={() => change({ ...filter, kinds: all })}>
            none
          </button>
        </span>
        {model.kinds.map((name, kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={!filter.kinds.has(kind)}
              onChange={() => change({ ...filter, kinds: flipped(filter.kinds, kind) })}
            />
            {name} <span class="quiet">{counts[kind]!.toLocaleString("en")}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

function flipped(set: ReadonlySet<number>, value: number): Set<number> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}
