import { toolResultsOf, toolUsesOf, type Message } from "../brains/message.ts";
import type { FailStep } from "../brains/step.ts";
import type { Switches } from "../switches.ts";

/**
 * What the model behind a harness refuses about a conversation, in its own words: the harness passes them on inside a
 * `runtimeClientError`. The session keeps no turn that it left to the client, so the echo of one must come with its results.
 *
 * Messages are numbered over the whole conversation; only those from `firstNew` on are looked at.
 */
export function resumeFailure(
  messages: readonly Message[],
  firstNew: number,
  switches: Switches,
): FailStep | null {
  for (let at = firstNew; at < messages.length; at++) {
    const problem = problemAt(messages, at, switches);
    if (problem !== null) return upstream(problem);
  }
  const last = messages.at(-1);
  const unanswered = idsOf(toolUsesOf(last));
  if (unanswered.length > 0) return upstream(expected(messages.length, unanswered));
  if (messages[0]?.role === "assistant") return upstream(wanted("start"));
  return last?.role === "assistant" ? upstream(wanted("end")) : null;
}

function wanted(place: "start" | "end"): string {
  return `A conversation must ${place} with a user message. Try again with a conversation that ${place}s with a user message.`;
}

function problemAt(messages: readonly Message[], at: number, switches: Switches): string | null {
  const message = messages[at];
  const uses = toolUsesOf(message);
  const results = toolResultsOf(message);
  const place = `messages.${at}.content`;
  const repeatedUse = firstRepeated(idsOf(uses));
  if (repeatedUse !== undefined) {
    return `The toolUse blocks at ${place} contain duplicate Ids: ${repeatedUse}`;
  }
  const repeatedResult = firstRepeated(idsOf(results));
  if (repeatedResult !== undefined) {
    return `The toolResult blocks at ${place} contain duplicate Ids: ${repeatedResult}`;
  }
  const calls = idsOf(toolUsesOf(messages[at - 1]));
  if (results.length > calls.length) {
    return `The number of toolResult blocks at ${place} exceeds the number of toolUse blocks of previous turn.`;
  }
  const given = new Set(idsOf(results));
  const missing = calls.filter((id) => !given.has(id));
  if (missing.length > 0) return expected(at, missing);
  const hasText = message?.content.some((block) => "text" in block) ?? false;
  if (results.length > 0 && hasText && switches.textBesideResults === "reject") {
    return `${place}: Conversation blocks and tool result blocks cannot be provided in the same turn.`;
  }
  const empty = results.findIndex(
    ({ status, content }) => status === "error" && content.length === 0,
  );
  if (empty !== -1) {
    return `The content field at ${place}.${empty}.toolResult cannot be empty when status value is error.`;
  }
  return null;
}

function expected(at: number, ids: readonly string[]): string {
  return `Expected toolResult blocks at messages.${at}.content for the following Ids: ${ids.join(", ")}`;
}

function upstream(problem: string): FailStep {
  return {
    type: "fail",
    exception: "runtimeClientError",
    message: `An error occurred (ValidationException) when calling the ConverseStream operation: ${problem}`,
  };
}

function idsOf(blocks: readonly { readonly toolUseId: string }[]): string[] {
  return blocks.map(({ toolUseId }) => toolUseId);
}

function firstRepeated(ids: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return ids.find((id) => seen.has(id) || !seen.add(id));
}
