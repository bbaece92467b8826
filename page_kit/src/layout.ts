// Where dagre puts nodes and edges, and how large texts are.
import { graphlib, layout } from "@dagrejs/dagre";
import type { GraphData, GraphEdge, GraphNode } from "./document";

export interface PlacedNode {
  node: GraphNode;
  label: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedEdge {
  edge: GraphEdge;
  points: { x: number; y: number }[];
  label: { text: string; x: number; y: number } | null;
}

export interface Placed {
  width: number;
  height: number;
  nodes: PlacedNode[];
  edges: PlacedEdge[];
}

const LONGEST = 36;
const NODE_HEIGHT = 34;
const PADDING = 26;
const FONT = "13px system-ui, sans-serif";
const LABEL_HEIGHT = 16;

export function shorten(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** Lay out `graph`. Edges of nodes that are not there are left out. */
export function place({ nodes, edges, direction }: GraphData): Placed {
  const width = measurer();
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction ?? "TB", nodesep: 28, ranksep: 46, marginx: 12, marginy: 12 });
  const names = new Map(nodes.map((node, index) => [node.id, `n${index}`]));
  nodes.forEach((node, index) =>
    graph.setNode(`n${index}`, { width: width(shorten(node.label)) + PADDING, height: NODE_HEIGHT }),
  );
  const drawn = edges.filter(({ from, to }) => names.has(from) && names.has(to));
  // dagre begins with the edge that was set last: reversed, the first stands on the left, or on top.
  for (const [index, { from, to, label }] of [...drawn.entries()].reverse()) {
    const size = label ? { width: width(shorten(label)) + 8, height: LABEL_HEIGHT, labelpos: "c" } : {};
    graph.setEdge(names.get(from)!, names.get(to)!, size, `e${index}`);
  }
  layout(graph);
  const { width: whole, height } = graph.graph() as { width?: number; height?: number };
  return {
    width: finite(whole),
    height: finite(height),
    nodes: nodes.map((node, index) => ({ node, label: shorten(node.label), ...box(graph.node(`n${index}`)) })),
    edges: drawn.map((edge, index) => {
      const found = graph.edge({ v: names.get(edge.from)!, w: names.get(edge.to)!, name: `e${index}` });
      const label = edge.label ? { text: shorten(edge.label), x: found.x, y: found.y } : null;
      return { edge, points: found.points, label };
    }),
  };
}

function box({ x, y, width, height }: { x: number; y: number; width: number; height: number }) {
  return { x, y, width, height };
}

function finite(length: number | undefined): number {
  return length !== undefined && Number.isFinite(length) ? length : 0;
}

function measurer(): (text: string) => number {
  const canvas = document.createElement("canvas").getContext("2d")!;
  canvas.font = FONT;
  return (text) => Math.ceil(canvas.measureText(text).width);
}
