import type { ReactNode } from "react";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../shell/navigation.tsx";
import { formatSessionPath } from "../shell/route.ts";
import type { SessionView } from "../state/session-view.ts";

/** The session whose task this worker has. */
export function ParentPanel({ view }: { readonly view: SessionView }): ReactNode {
  const { lineage } = view;
  if (lineage === null) return null;
  return (
    <p className="thread-parent">
      <Icon name="fork" />
      <span>This session belongs to a worker, at level {lineage.depth}</span>
      <Link to={formatSessionPath(lineage.parentSessionId)} className="part-text-button">
        Open the session which delegated
      </Link>
    </p>
  );
}
