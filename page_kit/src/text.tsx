import { CopyButton } from "./copy";
import type { Step, Text } from "./document";

export function TextSection({ section }: { section: Text }) {
  return (
    <div class="text">
      {section.sequence && section.sequence.length > 0 && <Sequence steps={section.sequence} />}
      {section.paragraphs.map((paragraph, index) => (
        <p key={index}>{paragraph}</p>
      ))}
      {section.command !== undefined && (
        <p class="command">
          <code>{section.command}</code>
          <CopyButton text={section.command} />
        </p>
      )}
      {section.code !== undefined && (
        <pre tabIndex={0} aria-label={`${section.title}: code`}>
          <code>{section.code}</code>
        </pre>
      )}
    </div>
  );
}

const SIDES = { storm: "Storm says", component: "component says", process: "happens" };

/** The few messages that led to it: Storm on the left, the component on the right, the wrong one marked. */
function Sequence({ steps }: { steps: Step[] }) {
  return (
    <div class="sequence">
      <p class="sequence-lanes" aria-hidden="true">
        <span>Storm</span>
        <span>component</span>
      </p>
      <ol>
        {steps.map(({ seq, side, text, mark }) => (
          <li key={seq} class={`step-${side === "storm" || side === "component" ? side : "process"}${mark ? " step-wrong" : ""}`}>
            <span class="step-seq">{seq}</span>
            <span class="step-arrow" aria-hidden="true" />
            <span class="hidden-words">{SIDES[side] ?? ""}: </span>
            <code>{text}</code>
            {mark && <span class="pill tone-bad">wrong</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}
