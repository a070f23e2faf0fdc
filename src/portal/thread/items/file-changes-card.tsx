import type { ReactNode } from "react";
import {
  formatFileChanges,
  type FileChangeEntry,
  type FileChangeKind,
} from "../../../domain/outputs/file-watch.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Fold } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { FileChangesItem } from "../../state/session-view.ts";
import { useOpenCard } from "../thread-context.tsx";

/** Changes of watched files, collected for a moment. */
export function FileChangesCard({ item }: { readonly item: FileChangesItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { entries } = item;
  const count = entries.reduce((sum, { relativePaths }) => sum + relativePaths.length, 0);
  const hasError = entries.some(({ error }) => error !== null);
  return (
    <div className="thread-tool thread-output" data-tone={hasError ? "warning" : "neutral"}>
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name={hasError ? "warning" : "file"} />
            <span className="thread-tool-name">{pluralize(count, "file")} changed</span>
            <span className="thread-tool-about">
              {!isOpen && <UntrustedText text={formatFileChanges(entries).slice(0, 300)} />}
            </span>
          </>
        }
      >
        <ul className="thread-changes">
          {entries.map((entry, index) => (
            <FileChangeRow key={index} entry={entry} />
          ))}
        </ul>
      </Fold>
    </div>
  );
}

const KINDS: { readonly [Kind in FileChangeKind]: { readonly text: string; readonly tone: Tone } } =
  {
    create: { text: "created", tone: "good" },
    modify: { text: "modified", tone: "accent" },
    remove: { text: "removed", tone: "danger" },
    rename: { text: "renamed", tone: "accent" },
    error: { text: "incomplete", tone: "warning" },
    other: { text: "changed", tone: "neutral" },
  };

/** Characters. */
const MAX_PATH = 1000;

function FileChangeRow({
  entry: { kind, relativePaths, error },
}: {
  readonly entry: FileChangeEntry;
}): ReactNode {
  const { text, tone } = KINDS[kind];
  return (
    <>
      {error !== null && (
        <li>
          <Badge tone={tone}>{text}</Badge>
          <UntrustedText text={error} />
        </li>
      )}
      {relativePaths.map((path) => (
        <li key={path}>
          <Badge tone={tone}>{text}</Badge>
          <code>
            <UntrustedText text={path.slice(0, MAX_PATH)} />
          </code>
        </li>
      ))}
    </>
  );
}
