import { formatThrown } from "../../../domain/errors.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput } from "../../session-input.ts";
import type { Agent } from "../agent/agent.ts";
import { createChangeCollector } from "./change-collector.ts";

interface WatchContext {
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly workingDirectory?: string;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

type WatchEffect = Extract<Effect, { readonly type: "watch-files" }>;

/** Watches the files of a subscription until the effect is aborted, and reports batches of changes. */
export async function performWatch(
  { subscriptionId, paths, globs, folders }: WatchEffect,
  { agent, clock, signal, send, workingDirectory }: WatchContext,
): Promise<void> {
  const collector = createChangeCollector(clock, (entries) => {
    // Not awaited; a closing session drops changes.
    send({ type: "files-changed", subscriptionId, entries }).catch(() => undefined);
  });
  signal.addEventListener("abort", () => collector.close(), { once: true });
  if (agent.watchFiles === undefined)
    return collector.addError("The agent has no workspace, so its files cannot be watched");
  const location = { folders, ...omitUndefined({ workingDirectory }) };
  const watcher = { signal, onChange: collector.add, onProblem: collector.addError };
  try {
    await agent.watchFiles({ paths, globs }, location, watcher);
  } catch (error) {
    if (!signal.aborted) collector.addError(formatThrown(error));
  }
}
