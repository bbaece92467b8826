// Series with xs of their own as the one table that uPlot wants, and which point of it lies under the mouse.
import type uPlot from "uplot";
import type { Series } from "./document";

export interface Joined {
  xs: number[];
  data: uPlot.AlignedData;
  /** For each series and row of the table: which of the series' points stands there; -1 if none. */
  points: Int32Array[];
}

export interface Hit {
  series: number;
  point: number;
}

/** Join by x. Where a series has an x twice, the x stands twice: no point is lost. */
export function join(series: Series[]): Joined {
  const orders = series.map(({ x }) => [...x.keys()].sort((one, other) => x[one]! - x[other]!));
  const next = series.map(() => 0);
  const xs: number[] = [];
  const rows: number[][] = [];
  for (;;) {
    const least = series.reduce((low, { x }, at) => Math.min(low, x[orders[at]![next[at]!]!] ?? Infinity), Infinity);
    if (least === Infinity) break;
    xs.push(least);
    rows.push(series.map(({ x }, at) => (x[orders[at]![next[at]!]!] === least ? orders[at]![next[at]!++]! : -1)));
  }
  const points = series.map((_, at) => Int32Array.from(rows, (row) => row[at]!));
  const ys = series.map(({ y }, at) => Array.from(points[at]!, (point) => (point < 0 ? undefined : (y[point] ?? null))));
  return { xs, data: [xs, ...ys] as uPlot.AlignedData, points };
}

const REACH = 14;

/** The point nearest to the mouse, within reach. */
export function hit(plot: uPlot, { xs, data, points }: Joined, left: number, top: number): Hit | null {
  const from = lowerBound(xs, plot.posToVal(left - REACH, "x"));
  const until = plot.posToVal(left + REACH, "x");
  let [best, distance] = [null as Hit | null, REACH];
  for (let row = from; row < xs.length && xs[row]! <= until; row++) {
    points.forEach((of, series) => {
      const y = data[series + 1]![row];
      if (of[row]! < 0 || y === null || y === undefined) return;
      const away = Math.hypot(plot.valToPos(xs[row]!, "x") - left, plot.valToPos(y, "y") - top);
      if (away <= distance) [best, distance] = [{ series, point: of[row]! }, away];
    });
  }
  return best;
}

function lowerBound(values: number[], wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
