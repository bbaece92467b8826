// The frame of a page: verdict, cause and first finding on top, then the sections.
import { Component, type ComponentChild, type ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Conversation, type Finding, levelTone, type PageDocument, type Section, toneClass } from "./document";
import { Link, Links, LinksContext, useLinks } from "./links";
import { SECTIONS } from "./sections";

export function Page({ page }: { page: PageDocument }) {
  const sections = page.sections ?? [];
  const links = useMemo(() => new Links(new Set(sections.map((section) => section.id))), [page]);
  useEffect(() => {
    document.title = page.title;
    links.follow();
  }, [page]);
  return (
    <LinksContext.Provider value={links}>
      <Head page={page} sections={sections} />
      <main>
        {sections.length === 0 && <p class="empty">There is nothing to show: the document has no sections.</p>}
        {sections.map((section) => (
          <SectionFrame key={section.id} section={section} />
        ))}
      </main>
      <footer>
        Made by {page.made_by} at {page.made_at}
      </footer>
    </LinksContext.Provider>
  );
}

function Head({ page, sections }: { page: PageDocument; sections: Section[] }) {
  return (
    <header class="head">
      <div class="head-line">
        <h1>{breakable(page.title)}</h1>
        {page.verdict && <span class={`pill verdict ${toneClass(page.verdict.tone)}`}>{page.verdict.text}</span>}
      </div>
      {page.subtitle && <p class="cause">{page.subtitle}</p>}
      <FirstFinding sections={sections} />
      {sections.length > 1 && <Parts sections={sections} />}
    </header>
  );
}

const MOST_PARTS = 10;

function Parts({ sections }: { sections: Section[] }) {
  const [all, setAll] = useState(false);
  const shown = all || sections.length <= MOST_PARTS ? sections : sections.slice(0, MOST_PARTS - 2);
  return (
    <nav aria-label="Parts of this page">
      {shown.map((section) => (
        <Link key={section.id} to={section.id}>
          {section.title}
        </Link>
      ))}
      {shown.length < sections.length && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          all {sections.length} parts
        </button>
      )}
    </nav>
  );
}

/** A text whose paths may be broken behind a slash: a narrow screen would break them within a word. */
function breakable(text: string): ComponentChild[] {
  return String(text ?? "")
    .split(/(?<=\/)/)
    .map((part, number) => [number > 0 && <wbr />, part]);
}

function firstFinding(sections: Section[]): { section: string; finding: Finding; count: number } | null {
  const found = sections.flatMap((section) =>
    section.type === "conversation"
      ? ((section as Conversation).findings ?? []).map((finding) => ({ section: section.id, finding }))
      : [],
  );
  const worst = found.find(({ finding }) => finding.level === "must") ?? found[0];
  return worst ? { ...worst, count: found.length } : null;
}

function FirstFinding({ sections }: { sections: Section[] }) {
  const first = firstFinding(sections);
  if (!first) return null;
  const { section, finding, count } = first;
  const to = finding.seq === null ? section : `${section}/${finding.seq}`;
  return (
    <section class={`first-finding ${toneClass(levelTone(finding.level))}`} aria-label="First finding">
      <p class="first-title">
        <span class={`pill ${toneClass(levelTone(finding.level))}`}>{finding.level}</span>
        <strong>{finding.title}</strong>
        <code>{finding.rule}</code>
        <span class="first-links">
          {count > 1 && <span class="quiet">{(count - 1).toLocaleString("en")} more in this page</span>}
          <Link to={to}>{finding.seq === null ? "Show it" : `Show event ${finding.seq}`}</Link>
        </span>
      </p>
      <p>{finding.message}</p>
    </section>
  );
}

function SectionFrame({ section }: { section: Section }) {
  const links = useLinks();
  const element = useRef<HTMLElement>(null);
  const Shown = SECTIONS.get(section.type);
  useEffect(() => {
    links.place(section.id, element.current);
    return () => links.place(section.id, null);
  }, [section.id]);
  const [open, setOpen] = useState(!section.folded);
  const body = (
    <>
      {section.note && <p class="note">{section.note}</p>}
      <Boundary>
        {Shown ? (
          <Shown section={section} />
        ) : (
          <p class="empty">This part is of the type "{String(section.type)}", which this page cannot show.</p>
        )}
      </Boundary>
    </>
  );
  // What is folded is not drawn: a link that leads there opens it first, by the event that Links sends.
  useEffect(() => {
    const show = () => setOpen(true);
    element.current?.addEventListener("unfold", show);
    return () => element.current?.removeEventListener("unfold", show);
  }, []);
  return (
    <section ref={element} class="section" aria-label={section.title} data-section={section.id}>
      {section.folded ? (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <h2>{section.title}</h2>
          </summary>
          {open && body}
        </details>
      ) : (
        <>
          <h2>{section.title}</h2>
          {body}
        </>
      )}
    </section>
  );
}

/** A damaged section becomes a sentence, the others stay. */
class Boundary extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  state = { failed: null };

  static getDerivedStateFromError(error: unknown) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }

  render() {
    if (this.state.failed === null) return this.props.children;
    return <p class="empty">This part could not be shown, its data are not as they should be: {this.state.failed}</p>;
  }
}
