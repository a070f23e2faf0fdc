import type { TurnEnd, TurnStage, TurnView } from "../state/session-view.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { Usage } from "../../domain/usage.ts";

export const STAGE_TEXTS: { readonly [Stage in TurnStage]: string } = {
  starting: "Starting",
  model: "Thinking",
  tool: "Running a tool",
  person: "Waits for a decision",
  results: "Waits for tool results",
  done: "Done",
};

export const OUTCOME_TEXTS: { readonly [Outcome in TurnOutcome]: string } = {
  completed: "Completed",
  cancelled: "Cancelled",
  limited: "Stopped at a limit",
  failed: "Failed",
};

/** Explains the end of a turn in a sentence. Undefined for a regular end. */
export function explainEnd({ outcome, reason, failure }: TurnEnd): string | undefined {
  if (outcome === "completed") return undefined;
  if (failure !== undefined) return failure.message;
  if (reason === null) return undefined;
  return REASONS.get(reason) ?? reason;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["max_steps", "The turn reached its limit of model calls"],
  ["max_seconds", "The turn reached its time limit"],
  ["max_tokens", "The answer reached its maximum length"],
  ["max_tool_calls", "The turn reached its limit of tool calls"],
  ["budget_tokens", "The token budget is used, and was not extended"],
  ["budget_seconds", "The time budget is used, and was not extended"],
  ["budget_tool_calls", "The budget of tool calls is used, and was not extended"],
  ["budget_invocations", "The budget of model calls is used, and was not extended"],
  ["budget_usd", "The price budget is used, and was not extended"],
  ["no_terminal_tool", "The agent did not call the required last tool"],
  ["results_missing", "The results of the client's tools did not arrive"],
  ["cancelled", "A person stopped the turn"],
]);

/** The remedy for a failure. Undefined if the message already contains the remedy. */
export function suggestFix(code: ErrorCode): string | undefined {
  return FIXES.get(code);
}

const FIXES: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ["no_credentials", "Set the credentials of the provider for the bridge, then retry."],
  ["unauthorized", "Check the credentials of the provider, then retry."],
  ["access_denied", "Check the rights of the bridge at the provider."],
  ["connect_failed", "Check the network and the address of the provider, then retry."],
  ["connection_lost", "The connection broke. Retry to send the prompt again."],
  ["first_event_timeout", "The provider did not start to answer. Retry later."],
  ["idle_timeout", "The provider stopped answering. Retry to send the prompt again."],
  ["deadline_exceeded", "The answer took too long. Retry, or ask for less at once."],
  ["throttled", "The provider limits requests. Wait a minute, then retry."],
  ["quota_exceeded", "The quota of the provider is used. Retry when there is quota again."],
  ["service_failed", "The provider had an error. Retry later."],
  ["overloaded", "The bridge has too much work. Retry in a moment."],
  ["store_full", "The disk of the bridge is full. Free some space, then retry."],
]);

/** The time a turn took so far. */
export function measureTurn({ startedAt, end }: TurnView, now: number): number {
  return Math.max(0, (end?.at ?? now) - startedAt);
}

/** Input tokens with those read from and written to the cache. */
export function countInput({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

/** The text of a turn's prompt, in one line. */
export function readPromptText(turn: TurnView): string {
  const user = turn.items.find((item) => item.kind === "user");
  if (user?.kind !== "user") return "";
  const texts = user.content.map((part) => (part.type === "text" ? part.text : "(image)"));
  return texts.join(" ").slice(0, 200).replaceAll(/\s+/g, " ").trim();
}
