// What each Storm version would have done, those alike in one line.
import { type Fate, fateTone, type Outlook, toneClass } from "../document";
import { indexOf, inWords, type Model } from "./model";

interface Line {
  fate: Fate;
  seq: number | null;
  versions: string[];
  sentence: string;
}

interface OutlookProps {
  outlook: Outlook[];
  model: Model;
  jump: (event: number) => void;
}

export function OutlookLines({ outlook, model, jump }: OutlookProps) {
  if (outlook.length === 0) return null;
  return (
    <ul class="outlook" aria-label="What each Storm version would have done">
      {alike(outlook).map(({ fate, seq, versions, sentence }) => {
        const event = seq === null ? -1 : indexOf(model.events.seq, seq);
        return (
          <li key={`${fate} ${seq}`}>
            <span class={`pill ${toneClass(fateTone(fate))}`}>{fate}</span>
            <span class="outlook-versions">Storm {inWords(versions)}</span>
            {event >= 0 && (
              <button type="button" class="link" onClick={() => jump(event)}>
                at event {seq}
              </button>
            )}
            <span class="quiet">{sentence}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** Versions of the same fate at the same event in one line, with the sentence of the last of them. */
function alike(outlook: Outlook[]): Line[] {
  const lines = new Map<string, Line>();
  for (const { version, fate, seq, sentence } of outlook) {
    const versions = [...(lines.get(`${fate} ${seq}`)?.versions ?? []), version];
    lines.set(`${fate} ${seq}`, { fate, seq, versions, sentence });
  }
  return [...lines.values()];
}
