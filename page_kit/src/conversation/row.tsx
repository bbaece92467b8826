// One row of the diagram: an arrow between Storm and the component, or a word in the lane of stderr or the process.
import { memo } from "./memo";
import { type Finding, levelTone, toneClass } from "../document";
import { CHANNELS, type FateLine, type Model } from "./model";
import { brief, clock, span } from "./words";

interface EventRowProps {
  id: string;
  model: Model;
  event: number;
  before: number;
  start: number;
  position: number;
  total: number;
  chosen: boolean;
  inThread: boolean;
  related: boolean;
  choose: (event: number) => void;
}

const SAID = ["Storm to the component", "component to Storm", "stderr", "process", "control"];
const LONG_PAUSE = 1;

function Row(props: EventRowProps) {
  const { model, event, before } = props;
  const { seq, t, ch, head } = model.events;
  const channel = CHANNELS[ch[event]!] ?? "control";
  const findings = model.findingsAt.get(event) ?? [];
  const pause = before < 0 ? 0 : t[event]! - t[before]!;
  return (
    <div
      id={props.id}
      class={rowClass(props, channel, findings)}
      role="option"
      aria-selected={props.chosen}
      aria-posinset={props.position}
      aria-setsize={props.total}
      data-row
      data-seq={seq[event]}
      style={{ transform: `translateY(${props.start}px)` }}
      onClick={() => props.choose(event)}
    >
      <span class="row-seq">{seq[event]}</span>
      <span class="row-time">{clock(t[event]!)}</span>
      <span class={`row-delta ${pause >= LONG_PAUSE ? "long" : ""}`}>{before < 0 ? "" : span(pause)}</span>
      <span class="row-lanes">
        <span class="arrow" aria-hidden="true" />
        <span class="visually-hidden">{SAID[ch[event]!]}: </span>
        <span class="row-label">
          <span class="row-words">{brief(head[event]!)}</span>
        </span>
        {findings.length > 0 && <Badge findings={findings} />}
      </span>
    </div>
  );
}

export const EventRow = memo(Row);

function rowClass({ chosen, inThread, related }: EventRowProps, channel: string, findings: Finding[]): string {
  const names = ["row", `row-${channel}`];
  if (chosen) names.push("chosen");
  if (inThread) names.push("in-thread");
  if (related) names.push("related");
  if (findings.length > 0) names.push("found", toneClass(levelTone(worst(findings).level)));
  return names.join(" ");
}

const ORDER = ["must", "should", "note"];

function worst(findings: Finding[]): Finding {
  return findings.reduce((one, other) => (ORDER.indexOf(other.level) < ORDER.indexOf(one.level) ? other : one));
}

function Badge({ findings }: { findings: Finding[] }) {
  const first = worst(findings);
  return (
    <span class={`badge ${toneClass(levelTone(first.level))}`}>
      <span class="badge-level">{first.level}</span>
      <span class="badge-title">{first.title}</span>
      {findings.length > 1 && <span class="badge-more">+{findings.length - 1}</span>}
    </span>
  );
}

export function FateRow({ line, start }: { line: FateLine; start: number }) {
  return (
    <div class="row fate-row" role="presentation" data-fate style={{ transform: `translateY(${start}px)` }}>
      <span class="fate-words">{line.text}</span>
    </div>
  );
}
