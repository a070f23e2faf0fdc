import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  MAX_REDACTION_POINTERS,
  type ProjectionCounts,
  type ProjectionReceipt,
} from "../../../domain/transcript/projection.ts";
import type { OutgoingContent } from "../../turn/turn-state.ts";
import type { Agent } from "../agent/agent.ts";
import type { ConversationHistory } from "../history/conversation.ts";
import {
  hashMessages,
  isNewProjection,
  type HistoryProjector,
} from "../history/project-messages.ts";
import { redactBlocks, redactResult } from "../history/redact-messages.ts";

/** The content of an invocation before its projection. */
export interface PreparedRequest {
  readonly outgoing: OutgoingContent;
  readonly history?: ConversationHistory;
}

interface ProjectionContext {
  readonly agent: Pick<Agent, "spec" | "redactText">;
  readonly projector: HistoryProjector;
}

/**
 * Leaves out of a request what the agent's projection names. The new content of the request is redacted and otherwise
 * complete. `receipt` is present if the projection must be logged.
 */
export function projectRequest(
  { outgoing, history }: PreparedRequest,
  projected: ProjectionCounts | null,
  { agent, projector }: ProjectionContext,
): PreparedRequest & { readonly receipt?: ProjectionReceipt } {
  const { projection: spec } = agent.spec;
  if (spec === undefined) return { outgoing, ...omitUndefined({ history }) };
  const { redactText } = agent;
  const known = history ?? { messages: [], stableCount: 0 };
  const past = projector.project(known, spec, redactText);
  // An agent with its own history compares its tool calls with the messages which it wrote.
  const canChangeCalls = agent.spec.provider.keepsHistory === false;
  const sent = redactOutgoing(outgoing, canChangeCalls, redactText);
  const redactedCount = past.receipt.redactedCount + sent.count;
  const isBoth = sent.count > 0 && past.receipt.reason === "policy";
  const reason = isBoth ? "policy_and_redaction" : past.receipt.reason;
  const counts = { ...past.receipt, redactedCount, reason };
  const request = {
    outgoing: sent.outgoing,
    ...(history !== undefined && { history: past.history }),
  };
  if (!isNewProjection(counts, projected)) return request;
  const { messages } = past.history;
  const pointers = [...counts.redactionPointers, ...sent.pointers];
  const redactionPointers = pointers.slice(0, MAX_REDACTION_POINTERS);
  return {
    ...request,
    receipt: { ...counts, redactionPointers, prefixHash: hashMessages(messages) },
  };
}

function redactOutgoing(
  outgoing: OutgoingContent,
  canChangeCalls: boolean,
  redactText: Agent["redactText"],
): {
  readonly outgoing: OutgoingContent;
  readonly count: number;
  readonly pointers: readonly string[];
} {
  if (redactText === undefined) return { outgoing, count: 0, pointers: [] };
  const pointers: string[] = [];
  let count = 0;
  const texts = outgoing.texts.map((text, index) => {
    const redacted = redactText(text);
    count += redacted.count;
    if (redacted.count > 0) pointers.push(`/outgoing/texts/${index}`);
    return redacted.text;
  });
  const { toolResults } = outgoing;
  const toolCalls = toolResults?.toolCalls.map((toolCall, index) => {
    if (toolCall.result === null) return toolCall;
    const redacted = redactResult(toolCall.result, redactText);
    count += redacted.count;
    if (redacted.count > 0) pointers.push(`/outgoing/results/${index}`);
    return { ...toolCall, result: redacted.result };
  });
  const messages = toolResults?.messages.map((message, index) => {
    if (!canChangeCalls) return message;
    const redacted = redactBlocks(message.blocks, redactText);
    count += redacted.count;
    if (redacted.count > 0) pointers.push(`/outgoing/messages/${index}`);
    return { ...message, blocks: redacted.blocks };
  });
  const results =
    toolResults === null
      ? null
      : { ...toolResults, messages: messages ?? [], toolCalls: toolCalls ?? [] };
  return { outgoing: { ...outgoing, texts, toolResults: results }, count, pointers };
}
