import { readToolResults, readToolUses, type Message } from "../../brains/session-message.ts";
import type { FailStep } from "../../brains/step.ts";
import type { Switches } from "../../switches.ts";

/**
 * Validates a conversation like the model behind a harness, with the model's messages: the harness returns them inside
 * a `runtimeClientError`. The session does not store a turn with open tool calls, so the client must repeat this turn
 * together with its results.
 *
 * Messages are numbered over the whole conversation. Only messages from `firstNew` on are checked.
 */
export function checkConversation(
  messages: readonly Message[],
  firstNew: number,
  switches: Switches,
): FailStep | null {
  for (let at = firstNew; at < messages.length; at++) {
    const problem = findProblem(messages, at, switches);
    if (problem !== null) return createUpstreamFailure(problem);
  }
  const last = messages.at(-1);
  const unanswered = collectIds(readToolUses(last));
  if (unanswered.length > 0)
    return createUpstreamFailure(formatMissingResults(messages.length, unanswered));
  if (messages[0]?.role === "assistant") return createUpstreamFailure(formatRoleError("start"));
  return last?.role === "assistant" ? createUpstreamFailure(formatRoleError("end")) : null;
}

function formatRoleError(position: "start" | "end"): string {
  return `A conversation must ${position} with a user message. Try again with a conversation that ${position}s with a user message.`;
}

function findProblem(messages: readonly Message[], at: number, switches: Switches): string | null {
  const message = messages[at];
  const uses = readToolUses(message);
  const results = readToolResults(message);
  const path = `messages.${at}.content`;
  const repeatedUse = findDuplicate(collectIds(uses));
  if (repeatedUse !== undefined) {
    return `The toolUse blocks at ${path} contain duplicate Ids: ${repeatedUse}`;
  }
  const repeatedResult = findDuplicate(collectIds(results));
  if (repeatedResult !== undefined) {
    return `The toolResult blocks at ${path} contain duplicate Ids: ${repeatedResult}`;
  }
  const calls = collectIds(readToolUses(messages[at - 1]));
  if (results.length > calls.length) {
    return `The number of toolResult blocks at ${path} exceeds the number of toolUse blocks of previous turn.`;
  }
  const resultIds = new Set(collectIds(results));
  const missing = calls.filter((id) => !resultIds.has(id));
  if (missing.length > 0) return formatMissingResults(at, missing);
  const hasText = message?.content.some((block) => "text" in block) ?? false;
  if (results.length > 0 && hasText && switches.textBesideResults === "reject") {
    return `${path}: Conversation blocks and tool result blocks cannot be provided in the same turn.`;
  }
  const empty = results.findIndex(
    ({ status, content }) => status === "error" && content.length === 0,
  );
  if (empty !== -1) {
    return `The content field at ${path}.${empty}.toolResult cannot be empty when status value is error.`;
  }
  return null;
}

function formatMissingResults(at: number, ids: readonly string[]): string {
  return `Expected toolResult blocks at messages.${at}.content for the following Ids: ${ids.join(", ")}`;
}

function createUpstreamFailure(problem: string): FailStep {
  return {
    type: "fail",
    exception: "runtimeClientError",
    message: `An error occurred (ValidationException) when calling the ConverseStream operation: ${problem}`,
  };
}

function collectIds(blocks: readonly { readonly toolUseId: string }[]): string[] {
  return blocks.map(({ toolUseId }) => toolUseId);
}

function findDuplicate(ids: readonly string[]): string | undefined {
  const visited = new Set<string>();
  return ids.find((id) => visited.has(id) || !visited.add(id));
}
