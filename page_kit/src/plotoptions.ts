// How uPlot draws a plot of the document, in the colours of the page.
import uPlot from "uplot";
import type { Band, Plot, Series, Tone } from "./document";

const HEIGHT = 280;
const AXIS_LEFT = 64;
const AXIS_SPACE = 80;
const WIDEST_BAR = 48;
const NARROWEST_BAR = 3;
const LABEL = 14;
const ROWS = 12;
const FONT = "12px system-ui, sans-serif";
const BANDS: Record<Tone, string> = { good: "--good", warn: "--warn", bad: "--bad", muted: "--muted", plain: "--muted" };
const LINES = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `--series-${number}`);

export function plotOptions(section: Plot, frame: HTMLElement): uPlot.Options {
  const style = getComputedStyle(frame);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { font: FONT, labelFont: FONT,  stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    scales: {
      x: { time: false, range: (_, low, high) => padded(low, high) },
      y: { distr: section.y.log ? 3 : 1, range: section.y.log ? undefined : (_, low, high) => padded(Math.min(low, 0), high) },
    },
    axes: [
      { ...axis, label: named(section.x), space: AXIS_SPACE },
      { ...axis, label: named(section.y), size: AXIS_LEFT, grid: section.y.log ? { ...axis.grid, filter: powersOfTen } : axis.grid },
    ],
    series: [{}, ...section.series.map((series, index) => seriesOptions(series, colour(LINES[index % LINES.length]!)))],
    legend: { show: section.series.length > 1, live: false },
    cursor: { points: { show: false }, y: false, drag: { x: true, y: false } },
    hooks: { drawClear: [(plot) => drawBands(plot, section, colour)] },
  };
}

function named({ label, unit }: { label: string; unit?: string }): string {
  return unit ? `${label} (${unit})` : label;
}

/** Of a logarithmic axis, the lines at powers of ten. */
function powersOfTen(_: uPlot, splits: number[]): (number | null)[] {
  return splits.map((value) => (Number.isInteger(Math.log10(value)) ? value : null));
}

function padded(low: number, high: number): [number, number] {
  const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low === 0 ? 0 : low - room, high + room];
}

function seriesOptions({ name, style }: Series, stroke: string): uPlot.Series {
  const common: uPlot.Series = { label: name, stroke, width: 1.5, points: { show: false } };
  if (style === "points") return { ...common, paths: () => null, points: { show: true, size: 6, fill: stroke, width: 0 } };
  if (style === "steps") return { ...common, paths: uPlot.paths.stepped!({ align: 1 }) };
  if (style === "bars") return { ...common, fill: stroke, paths: uPlot.paths.bars!({ size: [0.7, WIDEST_BAR, NARROWEST_BAR] }) };
  return { ...common, points: { show: true, size: 4, fill: stroke } };
}

function drawBands(plot: uPlot, { bands }: Plot, colour: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "bottom";
  let row = 0;
  for (const band of bands ?? []) {
    ctx.fillStyle = colour(BANDS[band.tone ?? "plain"] ?? "--muted");
    ctx.globalAlpha = band.from === band.to ? 0.8 : 0.12;
    if (band.along === "x") drawSpan(plot, band, row++);
    else drawLevel(plot, band);
  }
  ctx.restore();
}

function drawLevel(plot: uPlot, { from, to, label }: Band): void {
  const { ctx, bbox } = plot;
  const [top, bottom] = [plot.valToPos(Math.max(from, to), "y", true), plot.valToPos(Math.min(from, to), "y", true)];
  ctx.fillRect(bbox.left, top, bbox.width, Math.max(bottom - top, devicePixelRatio));
  ctx.globalAlpha = 1;
  ctx.textAlign = "right";
  ctx.fillText(label, bbox.left + bbox.width - 6, Math.max(top, bbox.top + LABEL * devicePixelRatio) - 2);
}

/** From top to bottom; labels go down from row to row, so that spans near each other can be read. */
function drawSpan(plot: uPlot, { from, to, label }: Band, row: number): void {
  const { ctx, bbox } = plot;
  const [left, right] = [plot.valToPos(Math.min(from, to), "x", true), plot.valToPos(Math.max(from, to), "x", true)];
  ctx.fillRect(left, bbox.top, Math.max(right - left, devicePixelRatio), bbox.height);
  ctx.globalAlpha = 1;
  const rightmost = left > bbox.left + bbox.width / 2;
  ctx.textAlign = rightmost ? "right" : "left";
  ctx.fillText(label, rightmost ? left - 4 : right + 4, bbox.top + ((row % ROWS) + 1) * LABEL * devicePixelRatio);
}
