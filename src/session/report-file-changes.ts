import { formatFileChanges } from "../domain/outputs/file-watch.ts";
import type { Decision } from "./decision.ts";
import type { TimedInput } from "./session-input.ts";
import { queueWatchedChanges } from "./steering/runtime-reminders.ts";
import { recordFileChanges } from "./watches/watch-commands.ts";

type ChangeInput = Extract<TimedInput, { readonly type: "files-changed" }>;

/** Records changes of watched files. The agent receives the changes of its own subscriptions as a reminder. */
export function reportFileChanges(decision: Decision, input: ChangeInput): void {
  const { subscriptionId, entries } = input;
  const subscription = recordFileChanges(decision, subscriptionId, entries);
  if (subscription?.owner.kind !== "agent") return;
  queueWatchedChanges(decision, subscriptionId, formatFileChanges(entries));
}
