// A table to sort and filter. Few rows stand in the page as they are, many in a list of their own that scrolls.
import { useMemo, useRef, useState } from "preact/hooks";
import { type Cell, type Table, toneClass } from "./document";
import { Link } from "./links";
import { useNear, useVirtual } from "./virtual";

const FEW = 100;
const ROW_HEIGHT = 32;
const SAMPLED = 500;
const WIDEST = 60;

type Columns = Table["columns"];
interface Order {
  column: number;
  down: boolean;
}

export function TableSection({ section }: { section: Table }) {
  return <Rows columns={section.columns} rows={section.rows} label={section.title} />;
}

export function Rows({ columns, rows, label }: { columns: Columns; rows: Cell[][]; label: string }) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order | null>(null);
  const shown = useMemo(() => sorted(filtered(rows, text), order), [rows, text, order]);
  const Body = rows.length > FEW ? ManyRows : FewRows;
  return (
    <div class="table">
      {rows.length > 5 && (
        <div class="table-tools">
          <input
            type="search"
            placeholder="Filter rows"
            aria-label={`Filter rows of ${label}`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <span class="quiet" role="status">
            {shown.length === rows.length ? `${rows.length} rows` : `${shown.length} of ${rows.length} rows`}
          </span>
        </div>
      )}
      <Body columns={columns} rows={shown} all={rows} label={label} order={order} sort={setOrder} />
      {shown.length === 0 && <p class="empty">No rows.</p>}
    </div>
  );
}

interface BodyProps {
  columns: Columns;
  rows: Cell[][];
  all: Cell[][];
  label: string;
  order: Order | null;
  sort: (order: Order | null) => void;
}

function FewRows(props: BodyProps) {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={props.label}>
      <table>
        <Heads {...props} />
        <tbody>
          {props.rows.map((row, index) => (
            <Row key={index} row={row} columns={props.columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ManyRows(props: BodyProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const near = useNear(scroller);
  const virtual = useVirtual({ count: props.rows.length, rowHeight: ROW_HEIGHT, scroller });
  const widths = useMemo(() => columnWidths(props.columns, props.all), [props.all]);
  const items = near ? virtual.getVirtualItems() : [];
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div class="table-scroll many" ref={scroller} tabIndex={0} role="group" aria-label={props.label}>
      <table aria-rowcount={props.rows.length}>
        <colgroup>
          {widths.map((width, index) => (
            <col key={index} style={{ width: `${width}%` }} />
          ))}
        </colgroup>
        <Heads {...props} />
        <tbody>
          <tr class="spacer" aria-hidden="true" style={{ height: `${above}px` }} />
          {items.map(({ index }) => (
            <Row key={index} row={props.rows[index]!} columns={props.columns} index={index + 1} />
          ))}
          <tr class="spacer" aria-hidden="true" style={{ height: `${below}px` }} />
        </tbody>
      </table>
    </div>
  );
}

function Heads({ columns, order, sort }: BodyProps) {
  const next = (column: number) => {
    if (order?.column !== column) sort({ column, down: false });
    else sort(order.down ? null : { column, down: true });
  };
  return (
    <thead>
      <tr>
        {columns.map((column, index) => {
          const direction = order?.column !== index ? "none" : order.down ? "descending" : "ascending";
          return (
            <th key={index} scope="col" class={column.align === "right" ? "right" : ""} aria-sort={direction}>
              <button type="button" onClick={() => next(index)}>
                {column.name}
                <span class="sort-sign" aria-hidden="true">
                  {direction === "ascending" ? "▲" : direction === "descending" ? "▼" : ""}
                </span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Row({ row, columns, index }: { row: Cell[]; columns: Columns; index?: number }) {
  return (
    <tr data-table-row aria-rowindex={index}>
      {columns.map((column, at) => {
        const cell = row[at] ?? null;
        const rich = typeof cell === "object" ? cell : null;
        return (
          <td key={at} class={column.align === "right" ? "right" : ""} title={index ? cellText(cell) : undefined}>
            {rich ? (
              <Link to={rich.to} class={rich.tone ? `toned ${toneClass(rich.tone)}` : undefined}>
                {rich.text}
              </Link>
            ) : (
              (cell as string | number | null)
            )}
          </td>
        );
      })}
    </tr>
  );
}

function cellText(cell: Cell): string {
  return String((cell !== null && typeof cell === "object" ? cell.text : cell) ?? "");
}

function filtered(rows: Cell[][], text: string): Cell[][] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return rows;
  return rows.filter((row) => row.some((cell) => cellText(cell).toLowerCase().includes(wanted)));
}

/** Numbers by value and before texts; texts as people sort them; empty cells last, either way. */
function sorted(rows: Cell[][], order: Order | null): Cell[][] {
  if (!order) return rows;
  const compareTexts = new Intl.Collator("en", { numeric: true }).compare;
  const sign = order.down ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: sortKey(row[order.column] ?? null) }));
  keyed.sort(({ key: one }, { key: other }) => {
    if (one === "" || other === "") return Number(one === "") - Number(other === "");
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    if (typeof one === "number") return -sign;
    if (typeof other === "number") return sign;
    return sign * compareTexts(one, other);
  });
  return keyed.map(({ row }) => row);
}

function sortKey(cell: Cell): string | number {
  if (typeof cell === "number") return cell;
  if (cell !== null && typeof cell === "object" && typeof cell.value === "number") return cell.value;
  return cellText(cell);
}

/** Percentages by the longest text of each column, of the first rows: so columns keep still while rows come and go. */
function columnWidths(columns: Columns, rows: Cell[][]): number[] {
  const lengths = columns.map((column, at) => {
    const longest = rows.slice(0, SAMPLED).reduce((most, row) => Math.max(most, cellText(row[at] ?? null).length), 0);
    return Math.min(Math.max(longest, column.name.length + 2, 4), WIDEST);
  });
  const sum = lengths.reduce((total, length) => total + length, 0);
  return lengths.map((length) => (100 * length) / sum);
}
