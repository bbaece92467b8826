// A finding explained: what happened, what was asked, why it matters, how to mend it, what each Storm version does.
import { fateTone, type Finding, levelTone, toneClass } from "../document";
import { indexOf, type Model } from "./model";

interface CardProps {
  finding: Finding;
  model: Model;
  jump: (event: number) => void;
}

export function FindingCard({ finding, model, jump }: CardProps) {
  const related = (finding.related ?? []).filter((seq) => indexOf(model.events.seq, seq) >= 0);
  return (
    <article class={`finding ${toneClass(levelTone(finding.level))}`}>
      <header>
        <span class={`pill ${toneClass(levelTone(finding.level))}`}>{finding.level}</span>
        <h4>{finding.title}</h4>
        <code class="rule-id">{finding.rule}</code>
      </header>
      <p class="happened">{finding.message}</p>
      {related.length > 0 && (
        <p class="related-events">
          See also{" "}
          {related.map((seq) => (
            <button key={seq} type="button" class="link" onClick={() => jump(indexOf(model.events.seq, seq))}>
              event {seq}
            </button>
          ))}
        </p>
      )}
      {finding.mend && <Part title="How to mend it">{finding.mend}</Part>}
      {finding.why && <Part title="Why it matters">{finding.why}</Part>}
      {!finding.clause && finding.source && <Part title="Where it stands">{finding.source}</Part>}
      {finding.clause && (
        <>
          <h5>What the protocol says</h5>
          <blockquote>
            {finding.clause}
            {finding.source && <cite>{finding.source}</cite>}
          </blockquote>
        </>
      )}
      {finding.fates && finding.fates.length > 0 && <Fates fates={finding.fates} />}
    </article>
  );
}

function Part({ title, children }: { title: string; children: string }) {
  return (
    <>
      <h5>{title}</h5>
      <p>{children}</p>
    </>
  );
}

function Fates({ fates }: { fates: NonNullable<Finding["fates"]> }) {
  return (
    <>
      <h5>What Storm does</h5>
      <ul class="fates">
        {fates.map(({ versions, fate, error }, index) => (
          <li key={index}>
            <span class="fate-versions">{versions}</span>
            <span class={`pill ${toneClass(fateTone(fate))}`}>{fate}</span>
            {error && <code class="fate-error">{error}</code>}
          </li>
        ))}
      </ul>
    </>
  );
}
