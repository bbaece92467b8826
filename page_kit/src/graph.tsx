// A graph as a picture; one too large for a picture as a table of its edges.
import { useMemo, useRef, useState } from "preact/hooks";
import { type Cell, type GraphData, type GraphNode, toneClass } from "./document";
import { place, type Placed, type PlacedEdge, type PlacedNode } from "./layout";
import { Link, useLinks } from "./links";
import { Rows } from "./table";
import { useOnceNear } from "./virtual";

const MOST_NODES = 300;
const MOST_EDGES = 900;

export function GraphSection({ section }: { section: GraphData & { title: string } }) {
  const [chosen, setChosen] = useState<GraphNode | null>(null);
  return (
    <>
      <Graph graph={section} title={section.title} chosen={chosen?.id} choose={setChosen} />
      {chosen && (
        <p class="graph-detail" role="status">
          <strong>{chosen.label}</strong> {chosen.detail} {chosen.to && <Link to={chosen.to}>Show it</Link>}
        </p>
      )}
    </>
  );
}

interface GraphProps {
  graph: GraphData;
  title: string;
  chosen?: string;
  choose: (node: GraphNode) => void;
  /** A class for each node, by its id: what a step makes of it. */
  marks?: ReadonlyMap<string, string>;
}

export function Graph(props: GraphProps) {
  const { graph, title } = props;
  const frame = useRef<HTMLDivElement>(null);
  const near = useOnceNear(frame);
  const large = graph.nodes.length > MOST_NODES || graph.edges.length > MOST_EDGES;
  const placed = useMemo(() => (near && !large ? place(graph) : null), [graph, near, large]);
  if (graph.nodes.length === 0) return <p class="empty">No nodes.</p>;
  if (large) return <EdgeTable graph={graph} title={title} />;
  return (
    <div class="graph" ref={frame} tabIndex={0} role="group" aria-label={title}>
      {placed && <Picture {...props} placed={placed} />}
    </div>
  );
}

function Picture({ placed, chosen, choose, marks }: GraphProps & { placed: Placed }) {
  const { width, height } = placed;
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      {placed.edges.map((edge, index) => (
        <Edge key={index} {...edge} mark={edgeMark(edge, marks)} />
      ))}
      {placed.nodes.map((node, index) => (
        <Node key={index} {...node} chosen={chosen === node.node.id} choose={choose} mark={marks?.get(node.node.id) ?? ""} />
      ))}
    </svg>
  );
}

function edgeMark({ edge }: PlacedEdge, marks?: ReadonlyMap<string, string>): string {
  const ends = [marks?.get(edge.from), marks?.get(edge.to)];
  return ends.includes("later") ? "later" : "";
}

interface NodeProps extends PlacedNode {
  chosen: boolean;
  choose: (node: GraphNode) => void;
  mark: string;
}

function Node({ node, label, x, y, width, height, chosen, choose, mark }: NodeProps) {
  const links = useLinks();
  const go = () => {
    if (node.to && node.detail === undefined && links.find(node.to)) links.go(node.to);
    else choose(node);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    go();
  };
  return (
    <g
      class={`node ${toneClass(node.tone)} ${mark} ${chosen ? "chosen" : ""}`}
      transform={`translate(${x - width / 2} ${y - height / 2})`}
      role="button"
      tabindex={0}
      aria-pressed={chosen}
      data-node={node.id}
      onClick={go}
      onKeyDown={press}
    >
      <title>{node.detail ? `${node.label}: ${node.detail}` : node.label}</title>
      <rect width={width} height={height} rx="7" />
      <text x={width / 2} y={height / 2}>
        {label}
      </text>
    </g>
  );
}

function Edge({ edge, points, label, mark }: PlacedEdge & { mark: string }) {
  return (
    <g class={`edge ${toneClass(edge.tone)} ${mark}`}>
      <path d={curve(points)} />
      <polygon points={arrowHead(points)} />
      {label && (
        <text x={label.x} y={label.y}>
          {label.text}
        </text>
      )}
    </g>
  );
}

type Points = PlacedEdge["points"];

/** A path through the middles between `points`, bent at the points. */
function curve(points: Points): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    if (!next) return `L${point.x} ${point.y}`;
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  return `M${first.x} ${first.y}${parts.join("")}`;
}

const HEAD = 8;

function arrowHead(points: Points): string {
  const [from, to] = [points.at(-2), points.at(-1)];
  if (!from || !to) return "";
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [alongX, alongY] = [((to.x - from.x) / length) * HEAD, ((to.y - from.y) / length) * HEAD];
  const corners = [
    [to.x, to.y],
    [to.x - alongX - alongY / 2, to.y - alongY + alongX / 2],
    [to.x - alongX + alongY / 2, to.y - alongY - alongX / 2],
  ];
  return corners.map(([x, y]) => `${x!.toFixed(1)},${y!.toFixed(1)}`).join(" ");
}

function EdgeTable({ graph, title }: { graph: GraphData; title: string }) {
  const labels = useMemo(() => new Map(graph.nodes.map((node) => [node.id, node])), [graph]);
  const cell = (id: string): Cell => {
    const node = labels.get(id);
    return node ? { text: node.label, tone: node.tone, to: node.to } : id;
  };
  return (
    <>
      <p class="empty">
        {graph.nodes.length} nodes and {graph.edges.length} edges are too many for a picture. These are the edges.
      </p>
      <Rows
        label={title}
        columns={[{ name: "from" }, { name: "to" }, { name: "label" }]}
        rows={graph.edges.map(({ from, to, label, tone }) => [cell(from), cell(to), { text: label ?? "", tone }])}
      />
    </>
  );
}
