import { isObject, toJsonText } from "../../../data/json.ts";
import type { ModelRequest, ModelMessage } from "../../../domain/model/model-request.ts";
import type {
  ProviderEvent,
  TurnEnd,
  UsageReported,
} from "../../../domain/provider/provider-event.ts";
import type { TurnBlock } from "../../../domain/provider/turn.ts";
import {
  createToolCall,
  type ToolResult,
  type ToolResultPart,
} from "../../../domain/tools/tool-call.ts";
import type { Model } from "../../../models/model.ts";
import { toHarnessToolCallId } from "../../../wire/agentcore/harness/harness-tool-call-id.ts";
import { toHarnessReason } from "../../../wire/converse/stop-reasons.ts";
import type { Brain, BrainRequest } from "../brain.ts";
import type { Content, Message, ResultPart, ToolResult as SentResult } from "../session-message.ts";
import type { Step, UsageStep } from "../step.ts";

/** Uses a real model, which turns the emulator into a local harness. Tools on the service's side are not available. */
export function createModelBrain(model: Model): Brain {
  return {
    respond: async (request) => ({
      type: "steps",
      steps: generateModelSteps(model.stream(toModelRequest(request), request.signal)),
    }),
  };
}

function toModelRequest({ messages, settings }: BrainRequest): ModelRequest {
  const { systemPrompt, tools, allowedTools, limits } = settings;
  const isAllowed = (name: string): boolean =>
    allowedTools.length === 0 || allowedTools.includes("*") || allowedTools.includes(name);
  const offered = tools.filter(({ type, name }) => type === "inline_function" && isAllowed(name));
  return {
    messages: toModelMessages(messages),
    tools: offered.map(({ name, description, inputSchema }) => ({
      name,
      description,
      schema: isObject(inputSchema) ? inputSchema : {},
    })),
    ...(systemPrompt.length > 0 && { system: systemPrompt.join("\n\n") }),
    ...(limits.maxTokensPerCall !== null && { maxTokens: limits.maxTokensPerCall }),
  };
}

async function* generateModelSteps(events: AsyncIterable<ProviderEvent>): AsyncGenerator<Step> {
  const usages: UsageStep[] = [];
  let hasCalls = false;
  yield { type: "start", role: "assistant" };
  for await (const event of events) {
    if (event.type === "usage") usages.push(toUsageStep(event));
    if (event.type === "tool.start") hasCalls = true;
    yield* event.type === "end" ? toEndSteps(event, hasCalls) : toSteps(event);
  }
  yield* usages;
}

/** Converts an event to steps. Events about the stream itself, such as diagnostics, have no steps. */
function* toSteps(event: Exclude<ProviderEvent, TurnEnd>): Generator<Step> {
  switch (event.type) {
    case "text.delta":
      return yield { type: "text", text: event.text };
    case "reasoning.delta":
      return yield { type: "reasoning", text: event.text };
    case "reasoning.end":
      if (event.signature !== undefined) yield { type: "signature", signature: event.signature };
      if (event.redacted !== undefined) yield { type: "redacted", base64: event.redacted };
      return yield { type: "close" };
    case "tool.start":
      return yield {
        type: "call",
        id: toHarnessToolCallId(event.toolCallId),
        name: event.name,
        kind: "tool_use",
      };
    case "tool.delta":
      return yield { type: "input", fragment: event.text };
    case "text.end":
    case "tool.end":
      return yield { type: "close" };
    default:
  }
}

function* toEndSteps({ failure, reason }: TurnEnd, hasCalls: boolean): Generator<Step> {
  if (failure === undefined) {
    yield { type: "stop", reason: toHarnessReason(reason ?? "end_turn", hasCalls) };
  } else {
    yield { type: "fail", exception: "runtimeClientError", message: failure.message };
  }
}

function toUsageStep({ usage, latencyMs = 0 }: UsageReported): UsageStep {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    type: "usage",
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    latencyMilliseconds: latencyMs,
  };
}

/** Converts the messages of a session for a model. */
function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.map(({ role, content }) => ({ role, blocks: content.map(toTurnBlock) }));
}

function toTurnBlock(content: Content): TurnBlock {
  if ("text" in content) return { type: "text", text: content.text };
  if ("toolUse" in content) {
    const { toolUseId: id, name, input } = content.toolUse;
    const inputText = toJsonText(isObject(input) ? input : { value: input });
    return {
      type: "tool-call",
      toolCall: createToolCall({ id, name, inputText, runBy: "client" }),
    };
  }
  if ("toolResult" in content)
    return { type: "tool-result", result: toToolResult(content.toolResult) };
  const { reasoningContent: reasoning } = content;
  return "redactedContent" in reasoning
    ? { type: "reasoning", text: "", redacted: reasoning.redactedContent }
    : { type: "reasoning", ...reasoning.reasoningText };
}

function toToolResult({ toolUseId: toolCallId, content, status }: SentResult): ToolResult {
  return { toolCallId, parts: content.map(toResultPart), isError: status === "error" };
}

function toResultPart(part: ResultPart): ToolResultPart {
  return "text" in part ? { type: "text", text: part.text } : { type: "json", value: part.json };
}
