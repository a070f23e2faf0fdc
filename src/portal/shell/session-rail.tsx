import { useState, type ReactNode } from "react";
import type { SessionView } from "../state/session-view.ts";
import { TimelineRail } from "../thread/timeline-rail.tsx";
import { UsagePanel } from "../thread/usage-panel.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";

type RailPart = "timeline" | "usage";

const PARTS: readonly { readonly part: RailPart; readonly name: string }[] = [
  { part: "timeline", name: "Timeline" },
  { part: "usage", name: "Usage" },
];

/** The details of a session: its timeline and its usage. */
export function SessionRail({ view }: { readonly view: SessionView }): ReactNode {
  const [shown, setShown] = useState<RailPart>("timeline");
  return (
    <aside className="shell-rail" aria-label="Details">
      <fieldset className="shell-tabs" aria-label="Shown details">
        {PARTS.map(({ part, name }) => (
          <button
            key={part}
            type="button"
            aria-pressed={shown === part}
            onClick={() => setShown(part)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <ErrorBoundary pane="details" resetKey={view.sessionId}>
        {shown === "timeline" ? <TimelineRail view={view} /> : <UsagePanel view={view} />}
      </ErrorBoundary>
    </aside>
  );
}
