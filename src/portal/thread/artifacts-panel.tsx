import { useState, type ReactNode } from "react";
import { formatHandoff } from "../../domain/outputs/handoff.ts";
import { pluralize } from "../../text/pluralize.ts";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { ArtifactItem, HandoffItem, SessionView } from "../state/session-view.ts";
import { TimelineLink } from "./timeline-rail.tsx";
import "./timeline.css";

/** All artifacts and handoffs of a session, the latest last. Each entry links to its place in the conversation. */
export function ArtifactsPanel({ view }: { readonly view: SessionView }): ReactNode {
  const [limit, setLimit] = useState(PAGE_SIZE);
  const items = listArtifacts(view);
  const omitted = items.length - limit;
  return (
    <section aria-label="Artifacts">
      {omitted > 0 && (
        <button
          type="button"
          className="part-text-button"
          onClick={() => setLimit(limit + PAGE_SIZE)}
        >
          Show {pluralize(omitted, "earlier artifact")}
        </button>
      )}
      <ol className="timeline">
        {items.slice(-limit).map((item) => (
          <li key={item.key}>
            <TimelineLink seq={item.seq} className="timeline-turn">
              <UntrustedText text={formatName(item).slice(0, 200)} />
            </TimelineLink>
          </li>
        ))}
      </ol>
    </section>
  );
}

const PAGE_SIZE = 50;

function listArtifacts({ turns }: SessionView): readonly (ArtifactItem | HandoffItem)[] {
  return turns.flatMap(({ items }) =>
    items.filter((item) => item.kind === "artifact" || item.kind === "handoff"),
  );
}

function formatName(item: ArtifactItem | HandoffItem): string {
  if (item.kind === "handoff") return formatHandoff(item.handoff);
  const { title, kind, fallback } = item.artifact;
  return title ?? `${kind}: ${fallback}`;
}
