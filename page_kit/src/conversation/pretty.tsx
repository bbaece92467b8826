// A message laid out in lines, token by token: numbers keep all their digits, keys that occur twice stay.
import type { ComponentChildren } from "preact";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const LONGEST = 200_000;
const DEEPEST = 60;
const LINE = 72;

type Node = { leaf: string } | { open: string; close: string; entries: { key?: string; value: Node }[] };

/** The value in `text`, or null where it is no JSON, is cut, or is too long or too deep to lay out. */
export function parseTokens(text: string): Node | null {
  if (text.length > LONGEST) return null;
  try {
    JSON.parse(text);
    const tokens = text.match(TOKEN) ?? [];
    let next = 0;
    const value = (depth: number): Node => {
      if (depth > DEEPEST) throw new RangeError("too deep");
      const token = tokens[next++]!;
      if (token !== "{" && token !== "[") return { leaf: token };
      const close = token === "{" ? "}" : "]";
      const entries: { key?: string; value: Node }[] = [];
      while (tokens[next] !== close) {
        if (tokens[next] === ",") next++;
        const key = close === "}" ? tokens[next] : undefined;
        if (key !== undefined) next += 2;
        entries.push({ key, value: value(depth + 1) });
      }
      next++;
      return { open: token, close, entries };
    };
    return value(0);
  } catch {
    return null;
  }
}

function flatLength(node: Node): number {
  if ("leaf" in node) return node.leaf.length;
  return node.entries.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + flatLength(value) + 4, 2);
}

function show(node: Node, indent: number): ComponentChildren {
  if ("leaf" in node) return <span class={leafClass(node.leaf)}>{node.leaf}</span>;
  const flat = indent > 0 && flatLength(node) <= LINE;
  const pad = (depth: number) => (flat ? "" : `\n${"  ".repeat(depth)}`);
  return [
    node.open,
    node.entries.map(({ key, value }, index) => [
      index > 0 && (flat ? ", " : ","),
      pad(indent + 1),
      key !== undefined && [<span class="json-key">{key}</span>, ": "],
      show(value, indent + 1),
    ]),
    node.entries.length > 0 && pad(indent),
    node.close,
  ];
}

function leafClass(leaf: string): string {
  if (leaf.startsWith('"')) return "json-string";
  return /^[-\d]/.test(leaf) ? "json-number" : "json-word";
}

export function Pretty({ text }: { text: string }) {
  const node = parseTokens(text);
  return <code>{node ? show(node, 0) : text}</code>;
}

export function isJson(text: string): boolean {
  return parseTokens(text) !== null;
}
