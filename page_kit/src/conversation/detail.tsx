// What is chosen: its findings explained, its place in its thread, its message.
import { CopyButton } from "../copy";
import { useState } from "preact/hooks";
import type { Filter } from "./filter";
import { FindingCard } from "./finding";
import { CHANNELS, type Model } from "./model";
import { isJson, Pretty } from "./pretty";
import { brief, bytes, clock } from "./words";

interface DetailProps {
  model: Model;
  event: number;
  jump: (event: number) => void;
  filter: Filter;
  change: (filter: Filter) => void;
}

export function Detail(props: DetailProps) {
  const { model, event, jump } = props;
  const whole = model.findingsAt.get(-1) ?? [];
  return (
    <aside class="detail" aria-label="The chosen event" tabIndex={0}>
      {event < 0 ? (
        <p class="quiet">
          Choose an event to see its message. Keys: <kbd>↑</kbd> <kbd>↓</kbd> to move in the diagram, <kbd>n</kbd> and{" "}
          <kbd>p</kbd> for the next and the previous finding.
        </p>
      ) : (
        <Chosen {...props} />
      )}
      {whole.map((finding, index) => (
        <FindingCard key={index} finding={finding} model={model} jump={jump} />
      ))}
    </aside>
  );
}

const SIDES = ["Storm → component", "component → Storm", "stderr", "process", "seen by mlcheck"];

function Chosen({ model, event, jump, filter, change }: DetailProps) {
  const { seq, t, ch, kind, head, text, size, thread } = model.events;
  const findings = model.findingsAt.get(event) ?? [];
  const others = (model.relatedTo.get(event) ?? []).filter((finding) => finding.seq !== null && !findings.includes(finding));
  return (
    <>
      <header class="detail-head">
        <p class="quiet">
          #{seq[event]} · {SIDES[ch[event]!] ?? CHANNELS[ch[event]!]} · {model.kinds[kind[event]!]} · {clock(t[event]!)}
          {size[event]! > 0 && ` · ${bytes(size[event]!)}`}
        </p>
        <h3>{head[event]}</h3>
        {thread[event]! >= 0 && <ThreadLine {...{ model, event, jump, filter, change }} />}
      </header>
      {findings.map((finding, index) => (
        <FindingCard key={`${event} ${index}`} finding={finding} model={model} jump={jump} />
      ))}
      {others.map((finding, index) => (
        <p key={index} class="related-to">
          Belongs to{" "}
          <button type="button" class="link" onClick={() => jump(model.places[model.findings.indexOf(finding)]!)}>
            {finding.title} at event {finding.seq}
          </button>
        </p>
      ))}
      {text[event] && <Message key={event} text={text[event]!} />}
    </>
  );
}

function ThreadLine({ model, event, jump, filter, change }: DetailProps) {
  const threads = model.events.thread;
  const thread = threads[event]!;
  const before = event > 0 ? threads.lastIndexOf(thread, event - 1) : -1;
  const after = threads.indexOf(thread, event + 1);
  return (
    <p class="thread-line">
      <span class="thread-name">{brief(model.threads[thread] ?? "its thread")}</span>
      <button type="button" class="link" disabled={before < 0} onClick={() => jump(before)}>
        earlier
      </button>
      <button type="button" class="link" disabled={after < 0} onClick={() => jump(after)}>
        later
      </button>
      <button type="button" class="link" onClick={() => change({ ...filter, thread: filter.thread === null ? thread : null })}>
        {filter.thread === null ? "only this" : "all threads"}
      </button>
    </p>
  );
}

function Message({ text }: { text: string }) {
  const [raw, setRaw] = useState(false);
  const json = isJson(text);
  return (
    <section class="message" aria-label="Message">
      <p class="message-tools">
        <span class="quiet">{json ? "Message" : "As it came"}</span>
        {json && (
          <button type="button" class="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {raw ? "laid out" : "as it came"}
          </button>
        )}
        <CopyButton text={text} />
      </p>
      <pre tabIndex={0} aria-label="Message text">
        {raw || !json ? <code>{text}</code> : <Pretty text={text} />}
      </pre>
    </section>
  );
}
