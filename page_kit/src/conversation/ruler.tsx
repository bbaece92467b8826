// Beside the scroll bar: where in all the rows the findings and the fates stand.
import { useMemo } from "preact/hooks";
import { levelTone, toneClass, type Tone } from "../document";
import type { Model } from "./model";

const MOST = 150;

interface Tick {
  index: number;
  at: number;
  tone: Tone;
}

export function Ruler({ model, rows, jump }: { model: Model; rows: number[]; jump: (index: number) => void }) {
  const ticks = useMemo(() => ticksOf(model, rows), [model, rows]);
  return (
    <div class="ruler" aria-hidden="true">
      {ticks.map(({ index, at, tone }) => (
        <span
          key={at}
          class={`tick ${toneClass(tone)}`}
          style={{ top: `${(100 * at) / MOST}%` }}
          onClick={() => jump(index)}
        />
      ))}
    </div>
  );
}

function ticksOf(model: Model, rows: number[]): Tick[] {
  const ticks = new Map<number, Tick>();
  rows.forEach((event, index) => {
    const level = model.findingsAt.get(event)?.[0]?.level;
    if (level === undefined && event >= 0) return;
    const at = Math.floor((MOST * index) / rows.length);
    const tone = level === undefined ? "bad" : levelTone(level);
    if (!ticks.has(at) || tone === "bad") ticks.set(at, { index, at, tone });
  });
  return [...ticks.values()];
}
