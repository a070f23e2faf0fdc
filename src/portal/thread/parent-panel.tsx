import type { ReactNode } from "react";
import { Link } from "../shell/navigation.tsx";
import type { SessionView } from "../state/session-view.ts";

/** The session whose task this worker has. */
export function ParentPanel({ view }: { readonly view: SessionView }): ReactNode {
  const { lineage } = view;
  if (lineage === null) return null;
  return (
    <p className="part-note">
      This session belongs to a worker, at level {lineage.depth}.{" "}
      <Link to={`/sessions/${encodeURIComponent(lineage.parentSessionId)}`}>
        Open the session which delegated
      </Link>
    </p>
  );
}
