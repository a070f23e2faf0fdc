import type { ReactNode } from "react";
import type { SessionSummary } from "../../wire/live/live-frames.ts";
import { STATE_NAMES } from "./filter-sessions.ts";

/** The state of a session as a dot. The shape differs too, and the name is there for screen readers. */
export function StateDot({
  state,
  isLabelled = false,
}: {
  readonly state: SessionSummary["state"];
  /** Shows the name after the dot. */
  readonly isLabelled?: boolean;
}): ReactNode {
  return (
    <span className={`shell-state shell-state-${state}`} title={STATE_NAMES[state]}>
      <span className="shell-state-dot" aria-hidden="true" />
      <span className={isLabelled ? "shell-state-name" : "shell-unseen"}>{STATE_NAMES[state]}</span>
    </span>
  );
}

/** A session whose page has no connection to the bridge, with the last known state. */
export function OfflineDot({
  lastState,
}: {
  readonly lastState: SessionSummary["state"];
}): ReactNode {
  return (
    <span className="shell-state shell-state-offline">
      <span className="shell-state-dot" aria-hidden="true" />
      <span className="shell-state-name">Disconnected</span>
      {lastState !== "idle" && <span>(last: {STATE_NAMES[lastState].toLowerCase()})</span>}
    </span>
  );
}
