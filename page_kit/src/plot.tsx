// Numbers over numbers: uPlot, with bands, links from points to events, and the same as a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Cell, Plot } from "./document";
import { Link, useLinks } from "./links";
import { hit, join, type Hit, type Joined } from "./points";
import { plotOptions } from "./plotoptions";
import { Rows } from "./table";
import { useOnceNear } from "./virtual";

export function PlotSection({ section }: { section: Plot }) {
  const frame = useRef<HTMLDivElement>(null);
  const near = useOnceNear(frame);
  const joined = useMemo(() => join(section.series), [section]);
  const [at, setAt] = useState<Hit | null>(null);
  const links = useLinks();
  useDrawn(frame, near, section, joined, setAt, (found) => {
    const to = section.series[found.series]?.to?.[found.point];
    if (to && links.find(to)) links.go(to);
  });
  if (joined.xs.length === 0) return <p class="empty">No points.</p>;
  return (
    <div class="plot">
      <div class="plot-frame" ref={frame} role="img" aria-label={`${section.y.label} over ${section.x.label}; the same below as a table`} />
      <p class="plot-at quiet">{at ? <At section={section} at={at} /> : "Point at a mark to read it; drag to zoom, double click to see all."}</p>
      <Numbers section={section} />
    </div>
  );
}

function At({ section, at }: { section: Plot; at: Hit }) {
  const series = section.series[at.series]!;
  const to = series.to?.[at.point];
  return (
    <>
      {series.name}: {withUnit(series.y[at.point]!, section.y.unit)} at {withUnit(series.x[at.point]!, section.x.unit)}
      {to && (
        <>
          {" · "}
          <Link to={to}>click the mark to see the event</Link>
        </>
      )}
    </>
  );
}

export function withUnit(value: number | null, unit?: string): string {
  const digits = value === null ? "nothing" : Number(value.toPrecision(6)).toLocaleString("en", { maximumSignificantDigits: 6 });
  return unit ? `${digits} ${unit}` : digits;
}

const PRINTED_WIDTH = 640;

/** The plot in `frame`, drawn again when the width or the colours of the page change. */
function useDrawn(
  frame: { current: HTMLDivElement | null },
  near: boolean,
  section: Plot,
  joined: Joined,
  point: (found: Hit | null) => void,
  click: (found: Hit) => void,
): void {
  useEffect(() => {
    const element = frame.current;
    if (!near || !element) return;
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(plotOptions(section, element), joined.data, element);
      listen(plot, joined, point, click);
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const fit = () => plot?.setSize({ width: element.clientWidth, height: plot.height });
    const resized = new ResizeObserver(fit);
    const printing = () => plot?.setSize({ width: PRINTED_WIDTH, height: plot.height });
    draw();
    resized.observe(element);
    addEventListener("beforeprint", printing);
    addEventListener("afterprint", fit);
    scheme.addEventListener("change", draw);
    return () => {
      plot?.destroy();
      resized.disconnect();
      removeEventListener("beforeprint", printing);
      removeEventListener("afterprint", fit);
      scheme.removeEventListener("change", draw);
    };
  }, [near, section]);
}

function listen(plot: uPlot, joined: Joined, point: (found: Hit | null) => void, click: (found: Hit) => void): void {
  let pressed = 0;
  plot.over.addEventListener("mousedown", (event) => (pressed = event.offsetX));
  plot.over.addEventListener("mousemove", (event) => {
    const found = hit(plot, joined, event.offsetX, event.offsetY);
    plot.over.classList.toggle("on-mark", found !== null);
    if (found) point(found);
  });
  plot.over.addEventListener("click", (event) => {
    const found = hit(plot, joined, event.offsetX, event.offsetY);
    if (found && Math.abs(event.offsetX - pressed) < 4) click(found);
  });
}

function Numbers({ section }: { section: Plot }) {
  const [open, setOpen] = useState(false);
  const { x, y, series } = section;
  const rows = () =>
    series.flatMap(({ name, x: xs, y: ys, to }) =>
      xs.map((value, index): Cell[] => {
        const target = to?.[index];
        return [target ? { text: name, to: target } : name, value, ys[index] ?? null];
      }),
    );
  return (
    <details class="plot-numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The numbers</summary>
      {open && (
        <Rows
          label={`Numbers of ${section.title}`}
          columns={[{ name: "series" }, { name: named(x), align: "right" }, { name: named(y), align: "right" }]}
          rows={rows()}
        />
      )}
    </details>
  );
}

function named({ label, unit }: { label: string; unit?: string }): string {
  return unit ? `${label} (${unit})` : label;
}
