import { useState, type ReactNode } from "react";
import { isObject, toJsonText } from "../../data/json.ts";
import { pluralize } from "../../text/pluralize.ts";
import { CopyButton } from "./copy-button.tsx";
import { Fold, LongText } from "./fold.tsx";
import { UntrustedText } from "./untrusted-text.tsx";
import "./parts.css";

/** A JSON value: an object as a list of names and values, nested values folded. */
export function JsonView({
  value,
  label,
}: {
  readonly value: unknown;
  /** Such as `Arguments`. */
  readonly label: string;
}): ReactNode {
  return (
    <div className="part-json">
      <div className="part-json-copy">
        <CopyButton text={() => formatJson(value)} label={`Copy ${label.toLowerCase()} as JSON`} />
      </div>
      <JsonNode value={value} label={label} depth={0} />
    </div>
  );
}

/** A value which `JSON.stringify` rejects is shown as a text with the reason. */
function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "null";
  } catch {
    return toJsonText(value);
  }
}

interface NodeProps {
  readonly value: unknown;
  readonly label: string;
  readonly depth: number;
}

function JsonNode({ value, label, depth }: NodeProps): ReactNode {
  if (typeof value === "string") return <JsonString text={value} label={label} />;
  if (!isObject(value) && !Array.isArray(value))
    return <span className="part-json-literal">{toJsonText(value)}</span>;
  const entries = Object.entries(value);
  if (entries.length === 0)
    return <span className="part-json-literal">{Array.isArray(value) ? "[]" : "{}"}</span>;
  if (depth > 0 && entries.length <= MAX_INLINE_ENTRIES) {
    const text = toJsonText(value);
    if (text.length <= MAX_INLINE_LENGTH) return <JsonString text={text} label={label} />;
  }
  if (depth >= MAX_DEPTH) return <LongText text={formatJson(value)} label={label} />;
  const list = <JsonEntries entries={entries} depth={depth} />;
  if (depth === 0) return list;
  const noun = Array.isArray(value) ? ["item", "items"] : ["entry", "entries"];
  return (
    <JsonFold
      summary={pluralize(entries.length, noun[0] ?? "", noun[1])}
      isSmall={entries.length <= 4}
    >
      {list}
    </JsonFold>
  );
}

const MAX_DEPTH = 8;
/** A short nested value is shown in one line. */
const MAX_INLINE_ENTRIES = 8;
const MAX_INLINE_LENGTH = 80;

function JsonString({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  if (text.length > 160 || text.includes("\n")) return <LongText text={text} label={label} />;
  return (
    <span className="part-json-string">
      {text === "" ? '""' : <UntrustedText text={text} kind="code" />}
    </span>
  );
}

function JsonEntries({
  entries,
  depth,
}: {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly depth: number;
}): ReactNode {
  const [limit, setLimit] = useState(MAX_ENTRIES);
  return (
    <>
      <dl className="part-json-list">
        {entries.slice(0, limit).map(([name, value]) => (
          <div key={name} className="part-json-entry">
            <dt>
              <UntrustedText text={name} />
            </dt>
            <dd>
              <JsonNode value={value} label={name} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > limit && (
        <button
          type="button"
          className="part-text-button"
          onClick={() => setLimit(limit + 10 * MAX_ENTRIES)}
        >
          Show {pluralize(entries.length - limit, "more entry", "more entries")}
        </button>
      )}
    </>
  );
}

const MAX_ENTRIES = 50;

function JsonFold(props: {
  readonly summary: string;
  readonly isSmall: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(props.isSmall);
  return (
    <Fold
      summary={<span className="part-muted">{props.summary}</span>}
      isOpen={isOpen}
      onToggle={setOpen}
    >
      {props.children}
    </Fold>
  );
}
