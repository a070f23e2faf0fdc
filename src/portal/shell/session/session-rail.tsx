import { Suspense, useState, type ReactNode } from "react";
import type { SessionView } from "../../state/session-view.ts";
import { DETAIL_PANELS } from "../../thread/panels.tsx";
import { ErrorBoundary } from "../error-boundary.tsx";

/** The details of a session, a tab for each panel. */
export function SessionRail({ view }: { readonly view: SessionView }): ReactNode {
  const [chosen, setChosen] = useState<string>();
  const panels = DETAIL_PANELS.filter(({ isPresent }) => isPresent(view));
  const openPanel = panels.find(({ name }) => name === chosen) ?? panels[0];
  if (openPanel === undefined) return null;
  return (
    <aside className="shell-rail" aria-label="Details">
      <fieldset className="shell-tabs" aria-label="Shown details">
        {panels.map(({ name }) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === openPanel.name}
            onClick={() => setChosen(name)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <ErrorBoundary pane="details" resetKey={`${view.sessionId} ${openPanel.name}`}>
        <Suspense fallback={<p className="part-note">Loading</p>}>
          <openPanel.View view={view} />
        </Suspense>
      </ErrorBoundary>
    </aside>
  );
}
