// Many things held against many: a word a cell, the rows in groups; names stay in sight.
import { useMemo, useState } from "preact/hooks";
import { type Matrix, type MatrixCell, type MatrixRow, toneClass } from "./document";

/** The only way out of a page: to a page in its own folder, or below that. */
const PAGE = /^(?:[A-Za-z0-9][\w.-]*\/)*[A-Za-z0-9][\w.-]*\.html$/;

const LOUD = new Set(["bad", "warn"]);

export function MatrixSection({ section }: { section: Matrix }) {
  const [text, setText] = useState("");
  const [loud, setLoud] = useState(false);
  const groups = useMemo(() => kept(section.groups, text, loud), [section, text, loud]);
  const count = (all: Matrix["groups"]) => all.reduce((sum, [, rows]) => sum + rows.length, 0);
  const [total, shown] = [count(section.groups), count(groups)];
  return (
    <div class="matrix">
      <div class="table-tools">
        <input
          type="search"
          placeholder="Filter rows"
          aria-label={`Filter rows of ${section.title}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={loud} onChange={(event) => setLoud(event.currentTarget.checked)} /> only
          trouble
        </label>
        <span class="quiet" role="status">
          {shown === total ? `${total} rows` : `${shown} of ${total} rows`}
        </span>
      </div>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={section.title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{section.corner}</th>
              {section.columns.map((column, index) => (
                <th key={index} scope="col">
                  {column.name}
                  {column.note && <small>{column.note}</small>}
                </th>
              ))}
            </tr>
          </thead>
          {groups.map(([name, rows]) => (
            <tbody key={name}>
              <tr class="matrix-group">
                <th scope="rowgroup" colSpan={section.columns.length + 1}>
                  {name}
                </th>
              </tr>
              {rows.map((row) => (
                <Row key={row.name} row={row} section={section} />
              ))}
            </tbody>
          ))}
        </table>
      </div>
      {shown === 0 && <p class="empty">No rows.</p>}
    </div>
  );
}

function Row({ row, section }: { row: MatrixRow; section: Matrix }) {
  return (
    <tr data-matrix-row>
      <th scope="row" title={row.detail}>
        {row.name}
      </th>
      {section.columns.map((_, at) => (
        <td key={at}>
          <Word cell={row.cells[at] ?? null} />
        </td>
      ))}
    </tr>
  );
}

function Word({ cell }: { cell: MatrixCell | null }) {
  if (!cell) return null;
  const name = `toned ${toneClass(cell.tone)}`;
  const file = typeof cell.file === "string" && PAGE.test(cell.file) ? cell.file : null;
  return file ? (
    <a class={name} href={file} title={cell.detail}>
      {cell.text}
    </a>
  ) : (
    <span class={name} title={cell.detail}>
      {cell.text}
    </span>
  );
}

function kept(groups: Matrix["groups"], text: string, loud: boolean): Matrix["groups"] {
  const wanted = text.trim().toLowerCase();
  const fits = (row: MatrixRow) =>
    `${row.name} ${row.detail ?? ""}`.toLowerCase().includes(wanted) &&
    (!loud || row.cells.some((cell) => cell !== null && LOUD.has(cell.tone)));
  return groups
    .map(([name, rows]): [string, MatrixRow[]] => [name, rows.filter(fits)])
    .filter(([, rows]) => rows.length > 0);
}
