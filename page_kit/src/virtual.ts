// Only what is in view stands in the DOM: @tanstack/virtual-core as a hook, and whether a section is near the view.
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";

/** Browsers limit how high an element may be; more rows than this are not scrolled to. */
export const MOST_ROWS = 500_000;

type Scroller = Virtualizer<HTMLElement, HTMLElement>;

export interface VirtualOptions {
  count: number;
  rowHeight: number;
  scroller: RefObject<HTMLElement | null>;
}

/** A virtualizer of rows of one height. It renders again when other rows come into view. */
export function useVirtual({ count, rowHeight, scroller }: VirtualOptions): Scroller {
  const [, again] = useReducer((turn: number, _: void) => turn + 1, 0);
  const options = {
    count: Math.min(count, MOST_ROWS),
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => again(),
  };
  const [virtualizer] = useState<Scroller>(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

const MARGIN = "400px";

/** Whether `element` is in view or near it, or the page is printed. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setNear(entries.at(-1)!.isIntersecting), {
      rootMargin: `${MARGIN} 0px`,
    });
    if (element.current) observer.observe(element.current);
    const printing = () => setNear(true);
    addEventListener("beforeprint", printing);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", printing);
    };
  }, []);
  return near;
}

/** True once `element` has been near: what is costly to draw waits for it, and then stays. */
export function useOnceNear(element: RefObject<HTMLElement | null>): boolean {
  const near = useNear(element);
  const [seen, setSeen] = useState(false);
  if (near && !seen) setSeen(true);
  return seen || near;
}
