import type { ReactNode } from "react";
import type { ToolItem } from "../../state/session-view.ts";
import { useThread, type RunningAction } from "../thread-context.tsx";

/** Stops one tool call; the turn continues. Absent for a call which has ended, or which the bridge does not run. */
export function StopButton({
  item: { toolCallId, name, stage, call },
  running,
}: {
  readonly item: ToolItem;
  readonly running: RunningAction;
}): ReactNode {
  const { actions } = useThread();
  if (!STOPPABLE_STAGES.has(stage) || call?.runBy === "server") return null;
  return (
    <button
      type="button"
      className="part-text-button"
      aria-label={`Stop ${name.slice(0, 100)}`}
      title="Stops this tool call. The turn continues"
      disabled={running.isRunning}
      onClick={() => running.run(() => actions.cancelToolCall(toolCallId))}
    >
      {running.isRunning ? "Stopping …" : "Stop"}
    </button>
  );
}

const STOPPABLE_STAGES: ReadonlySet<ToolItem["stage"]> = new Set<ToolItem["stage"]>([
  "allowed",
  "running",
  "host",
]);
