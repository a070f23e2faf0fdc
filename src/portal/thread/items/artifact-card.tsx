import type { ReactNode } from "react";
import { isSpecReference, readTable, type TableTexts } from "../../../domain/outputs/artifact.ts";
import { isObject } from "../../../data/json.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { Fold, LongText } from "../../parts/fold.tsx";
import { formatBytes } from "../../parts/format-amount.ts";
import { Icon } from "../../parts/icons.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { ArtifactItem } from "../../state/session-view.ts";
import { useOpenCard, useThread } from "../thread-context.tsx";

/** An artifact of the agent. Its content is text: charts and diagrams appear as their source. */
export function ArtifactCard({ item }: { readonly item: ArtifactItem }): ReactNode {
  const { actions } = useThread();
  const [isOpen, setOpen] = useOpenCard(item.key, true);
  const { artifactId, kind, title, sizeBytes } = item.artifact;
  return (
    <div className="thread-tool thread-output">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name={kind === "table" ? "table" : "file"} />
            <span className="thread-tool-name">
              <UntrustedText text={title ?? KIND_NAMES[kind]} />
            </span>
            <span className="thread-tool-about">
              {KIND_NAMES[kind]}, {formatBytes(sizeBytes)}
            </span>
          </>
        }
        actions={
          <a
            className="part-text-button"
            href={actions.artifactUrl(artifactId)}
            download
            aria-label={`Download ${(title ?? KIND_NAMES[kind]).slice(0, 100)}`}
          >
            Download
          </a>
        }
      >
        <ArtifactContent item={item} />
      </Fold>
    </div>
  );
}

const KIND_NAMES: { readonly [Kind in ArtifactItem["artifact"]["kind"]]: string } = {
  "vega-lite": "Chart",
  mermaid: "Diagram",
  table: "Table",
  file: "File",
  artifact_manifest: "List of artifacts",
};

function ArtifactContent({ item }: { readonly item: ArtifactItem }): ReactNode {
  const { kind, spec, fallback, title } = item.artifact;
  const label = title ?? KIND_NAMES[kind];
  if (isSpecReference(spec)) return <LongText text={fallback} label={label} />;
  const table = kind === "table" ? readTable(spec) : undefined;
  if (table !== undefined) return <ArtifactTable table={table} label={label} />;
  const code = kind === "mermaid" && isObject(spec) ? spec["code"] : undefined;
  if (typeof code === "string") return <LongText text={code} label={label} />;
  return <JsonView value={spec} label={KIND_NAMES[kind]} />;
}

/** Rows beyond are in the download. */
const MAX_VISIBLE_ROWS = 100;

function ArtifactTable({
  table: { columns, rows },
  label,
}: {
  readonly table: TableTexts;
  readonly label: string;
}): ReactNode {
  const omitted = rows.length - MAX_VISIBLE_ROWS;
  return (
    <ScrollBox className="part-table thread-table" label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col">
                <UntrustedText text={column.slice(0, MAX_CELL)} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_VISIBLE_ROWS).map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>
                  <UntrustedText text={cell.slice(0, MAX_CELL)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {omitted > 0 && <p className="part-note">{pluralize(omitted, "more row")} in the download</p>}
    </ScrollBox>
  );
}

const MAX_CELL = 2000;
