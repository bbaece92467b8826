// Targets: "SECTION" or "SECTION/SEQ", and behind a ? the filters of a conversation. They come from the document or the address bar, so neither is trusted.
import { createContext, type ComponentChildren } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

export interface Target {
  section: string;
  seq: number | null;
  query: string;
}

const FORM = /^([a-z0-9-]+)(?:\/(\d{1,15}))?(?:\?(.{0,2000}))?$/;

export function parseTarget(text: unknown): Target | null {
  const found = typeof text === "string" ? FORM.exec(text) : null;
  return found ? { section: found[1]!, seq: found[2] === undefined ? null : Number(found[2]), query: found[3] ?? "" } : null;
}

type Reveal = (seq: number) => void;

/** Where the sections are, and how each shows one of its events. */
export class Links {
  private readonly elements = new Map<string, HTMLElement>();
  private readonly reveals = new Map<string, Reveal>();

  constructor(private readonly sections: ReadonlySet<string>) {
    addEventListener("hashchange", () => this.follow());
  }

  /** The target that `text` names, if it is one and its section is on this page. */
  find(text: unknown): Target | null {
    const target = parseTarget(text);
    return target && this.sections.has(target.section) ? target : null;
  }

  place(section: string, element: HTMLElement | null): void {
    if (element) this.elements.set(section, element);
    else this.elements.delete(section);
  }

  reveal(section: string, show: Reveal): () => void {
    this.reveals.set(section, show);
    return () => this.reveals.delete(section);
  }

  /** What the address bar says of a section behind its name, "" for nothing. */
  query(section: string): string {
    const target = this.find(location.hash.slice(1));
    return target?.section === section ? target.query : "";
  }

  /** Have the address bar say it, as a link to the section that can be passed on; nothing is scrolled. */
  keep(section: string, query: string): void {
    history.replaceState(null, "", `#${section}${query && `?${query}`}`);
  }

  go(to: string): void {
    if (location.hash === `#${to}`) this.follow();
    else location.hash = to;
  }

  /** Show what the address bar's fragment names. */
  follow(): void {
    const target = this.find(location.hash.slice(1));
    if (!target) return;
    const element = this.elements.get(target.section);
    element?.dispatchEvent(new Event("unfold"));
    // What was folded is drawn first.
    requestAnimationFrame(() => {
      element?.scrollIntoView({ block: "start" });
      if (target.seq !== null) this.reveals.get(target.section)?.(target.seq);
    });
  }
}

export const LinksContext = createContext<Links>(new Links(new Set()));

export function useLinks(): Links {
  return useContext(LinksContext);
}

export function useReveal(section: string, show: Reveal): void {
  const links = useLinks();
  // Not useEffect: a link between what is drawn and what is done after it would go by the filters of before.
  useLayoutEffect(() => links.reveal(section, show));
}

/** A link if `to` is a target of this page, else only its words. */
export function Link({ to, children, class: name }: { to?: string; children: ComponentChildren; class?: string }) {
  const links = useLinks();
  if (!to || !links.find(to)) return <span class={name}>{children}</span>;
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    links.go(to);
  };
  return (
    <a class={name} href={`#${to}`} onClick={follow}>
      {children}
    </a>
  );
}
