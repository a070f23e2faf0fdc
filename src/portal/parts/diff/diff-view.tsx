import { useMemo, useState, type ReactNode } from "react";
import { createDiffTable, type DiffRow, type DiffTable } from "./diff-rows.ts";
import { Badge } from "../badge.tsx";
import { CopyButton } from "../copy-button.tsx";
import { Icon } from "../icons.tsx";
import { ScrollBox } from "../scroll-box.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import { pluralize } from "../../../text/pluralize.ts";
import type { FileDiff } from "../../../domain/tools/tool-output.ts";
import "../content.css";

/** The change of one file: unified, with line numbers. Unchanged stretches and very long diffs are folded. */
export function DiffView({
  diff,
  isPlanned = false,
}: {
  readonly diff: FileDiff;
  /** The change has not been made yet. */
  readonly isPlanned?: boolean;
}): ReactNode {
  const table = useMemo(() => createDiffTable(diff), [diff]);
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? table.rows : table.rows.slice(0, MAX_ROWS);
  return (
    <section className="part-diff" aria-label={`Change of ${diff.path}`}>
      <div className="part-diff-head">
        <Icon name="file" />
        <span className="part-diff-path">
          <UntrustedText text={diff.path} />
        </span>
        {KIND_LABELS[table.kind] !== null && <Badge>{KIND_LABELS[table.kind]}</Badge>}
        {isPlanned && <Badge tone="warning">planned</Badge>}
        <DiffCounts table={table} />
        <CopyButton text={diff.newText} label="Copy the new text" />
      </div>
      {rows.length > 0 && (
        <ScrollBox className="part-diff-scroll" label={diff.path}>
          <table>
            <thead className="part-hidden">
              <tr>
                <th scope="col">Old line</th>
                <th scope="col">New line</th>
                <th scope="col">Change</th>
                <th scope="col">Text</th>
              </tr>
            </thead>
            <tbody>
              <DiffRows rows={rows} />
            </tbody>
          </table>
        </ScrollBox>
      )}
      {rows.length < table.rows.length && (
        <button type="button" className="part-text-button" onClick={() => setWhole(true)}>
          Show {pluralize(table.rows.length - rows.length, "more row")}
        </button>
      )}
    </section>
  );
}

const MAX_ROWS = 200;

const KIND_LABELS: { readonly [Kind in DiffTable["kind"]]: string | null } = {
  new: "new file",
  changed: null,
  emptied: "emptied",
  same: "no changes",
};

function DiffCounts({ table }: { readonly table: DiffTable }): ReactNode {
  const { addedCount, removedCount } = table;
  return (
    <span className="part-diff-counts">
      {addedCount > 0 && (
        <span className="part-diff-plus" title={`${pluralize(addedCount, "line")} added`}>
          +{addedCount}
        </span>
      )}
      {removedCount > 0 && (
        <span className="part-diff-minus" title={`${pluralize(removedCount, "line")} removed`}>
          −{removedCount}
        </span>
      )}
    </span>
  );
}

function DiffRows({ rows }: { readonly rows: readonly DiffRow[] }): ReactNode {
  return rows.map((row, index) => <DiffRowElement key={index} row={row} />);
}

function DiffRowElement({ row }: { readonly row: DiffRow }): ReactNode {
  switch (row.kind) {
    case "same":
      return (
        <tr>
          <td className="part-diff-number">{row.oldLine}</td>
          <td className="part-diff-number">{row.newLine}</td>
          <td className="part-diff-sign">{"\u00a0"}</td>
          <td className="part-diff-text">
            <LineText text={row.text} />
          </td>
        </tr>
      );
    case "added":
    case "removed":
      return <ChangedRow row={row} />;
    case "gap":
      return <Gap rows={row.rows} />;
    case "note":
      return (
        <tr className="part-diff-note">
          <td colSpan={4}>{row.text}</td>
        </tr>
      );
  }
}

function ChangedRow({ row }: { readonly row: Extract<DiffRow, { segments: unknown }> }): ReactNode {
  const isAdded = row.kind === "added";
  return (
    <tr className={isAdded ? "part-diff-added" : "part-diff-removed"}>
      <td className="part-diff-number">{isAdded ? null : row.line}</td>
      <td className="part-diff-number">{isAdded ? row.line : null}</td>
      <td className="part-diff-sign">{isAdded ? "+" : "−"}</td>
      <td className="part-diff-text">
        {row.segments.map((segment, index) =>
          segment.isChanged ? (
            <mark key={index}>
              <LineText text={segment.text} />
            </mark>
          ) : (
            <LineText key={index} text={segment.text} />
          ),
        )}
      </td>
    </tr>
  );
}

function Gap({ rows }: { readonly rows: readonly DiffRow[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <DiffRows rows={rows} />;
  return (
    <tr className="part-diff-gap">
      <td colSpan={4}>
        <button type="button" className="part-text-button" onClick={() => setOpen(true)}>
          Show {pluralize(rows.length, "unchanged line")}
        </button>
      </td>
    </tr>
  );
}

/** Lines of minified files are cut. */
function LineText({ text }: { readonly text: string }): ReactNode {
  if (text.length <= MAX_LINE) return <UntrustedText text={text} kind="code" />;
  return (
    <>
      <UntrustedText text={text.slice(0, MAX_LINE)} kind="code" />
      <span className="part-muted"> … {text.length - MAX_LINE} more characters</span>
    </>
  );
}

const MAX_LINE = 1000;
