// A tuple tree played step by step: which nodes are there, and how XOR makes each ack val of the one before.
import { useMemo, useRef, useState } from "preact/hooks";
import { type Step, type Steps, toneClass } from "./document";
import { Graph } from "./graph";
import { Link } from "./links";
import { settles, widest, xorLines } from "./xor";

export function StepsSection({ section }: { section: Steps }) {
  const { graph, steps } = section;
  const [at, setAt] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const marks = useMemo(() => marksAt(section, at), [section, at]);
  if (steps.length === 0) return <Graph graph={graph} title={section.title} choose={() => undefined} />;
  const show = (next: number) => {
    const bounded = Math.max(0, Math.min(steps.length - 1, next));
    setAt(bounded);
    const [row, frame] = [list.current?.children[bounded] as HTMLElement | undefined, list.current];
    if (row && frame) frame.scrollTop = row.offsetTop - frame.clientHeight / 2;
  };
  const stepOf = (id: string) => steps.findIndex((step) => step.node === id);
  return (
    <div class="steps">
      <div class="steps-left">
        <Graph
          graph={graph}
          title={section.title}
          marks={marks}
          chosen={steps[at]!.node}
          choose={(node) => stepOf(node.id) >= 0 && show(stepOf(node.id))}
        />
        <AckVal steps={steps} at={at} />
      </div>
      <div class="steps-right">
        <div class="steps-tools">
          <button type="button" disabled={at === 0} onClick={() => show(at - 1)} aria-label="Step before">
            ‹
          </button>
          <input
            type="range"
            min={0}
            max={steps.length - 1}
            value={at}
            aria-label={`Step of ${section.title}`}
            aria-valuetext={`Step ${at + 1} of ${steps.length}: ${steps[at]!.text}`}
            onInput={(event) => show(Number(event.currentTarget.value))}
          />
          <button type="button" disabled={at === steps.length - 1} onClick={() => show(at + 1)} aria-label="Next step">
            ›
          </button>
          <span class="quiet">
            {at + 1} of {steps.length}
          </span>
        </div>
        <ol class="step-list" ref={list}>
          {steps.map((step, index) => (
            <li key={index} class={`${toneClass(step.tone)} ${index > at ? "later" : ""}`} aria-current={index === at ? "step" : undefined}>
              <button type="button" onClick={() => show(index)}>
                {step.text}
              </button>
              {step.to && <Link to={step.to}>show</Link>}
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

/** The nodes that no step up to `at` has reached, of those that steps speak of, are there only later. */
function marksAt({ graph, steps }: Steps, at: number): Map<string, string> {
  const first = new Map<string, number>();
  steps.forEach(({ node }, index) => node !== undefined && !first.has(node) && first.set(node, index));
  return new Map(graph.nodes.map(({ id }) => [id, (first.get(id) ?? 0) > at ? "later" : ""]));
}

function AckVal({ steps, at }: { steps: Step[]; at: number }) {
  const before = steps.slice(0, at).findLast((step) => step.ack_val !== undefined)?.ack_val ?? "0x0";
  const after = steps[at]!.ack_val;
  if (after === undefined) return null;
  const lines = xorLines(before, after, widest(steps.map((step) => step.ack_val)));
  return (
    <div class="ack-val" role="status" aria-label="Ack val">
      <table>
        <tbody>
          {lines.map(({ name, digits }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{digits}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {settles(before, after) && <p class="quiet">Zero: every tuple of the tree is settled.</p>}
    </div>
  );
}
