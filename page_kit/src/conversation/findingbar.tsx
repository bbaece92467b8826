// The findings by rule, and the way from one to the next.
import { useMemo } from "preact/hooks";
import { type Finding, levelTone, toneClass } from "../document";
import type { Model } from "./model";

interface Group {
  finding: Finding;
  places: number[];
}

interface FindingBarProps {
  model: Model;
  chosen: number;
  jump: (event: number) => void;
  step: (by: number) => void;
}

export function FindingBar({ model, chosen, jump, step }: FindingBarProps) {
  const groups = useMemo(() => byRule(model), [model]);
  if (groups.length === 0) return <p class="finding-bar quiet">No findings.</p>;
  const pinned = [...new Set(model.places)].filter((place) => place >= 0);
  const at = pinned.indexOf(chosen);
  return (
    <div class="finding-bar" role="group" aria-label="Findings">
      <span class="stepper">
        <button type="button" onClick={() => step(-1)} title="Previous finding (key p)" aria-label="Previous finding">
          ‹
        </button>
        <span class="stepper-count">
          {at >= 0 ? `${at + 1} of ${pinned.length}` : pinned.length}
        </span>
        <button type="button" onClick={() => step(1)} title="Next finding (key n)" aria-label="Next finding">
          ›
        </button>
      </span>
      {groups.map(({ finding, places }) => (
        <button
          key={finding.rule}
          type="button"
          class={`rule-chip ${toneClass(levelTone(finding.level))}`}
          aria-pressed={places.includes(chosen)}
          title={finding.message}
          onClick={() => jump(places.find((place) => place > chosen) ?? places[0]!)}
        >
          <span class="dot" aria-hidden="true" />
          {finding.title}
          {places.length > 1 && <span class="quiet"> ×{places.length}</span>}
        </button>
      ))}
    </div>
  );
}

function byRule({ findings, places }: Model): Group[] {
  const groups = new Map<string, Group>();
  findings.forEach((finding, at) => {
    const group = groups.get(finding.rule);
    if (group) group.places.push(places[at]!);
    else groups.set(finding.rule, { finding, places: [places[at]!] });
  });
  return [...groups.values()];
}
