import { isObject } from "../../../data/json.ts";
import { formatImageNote } from "../../../domain/model/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import { normalizeHistory } from "../../../domain/model/normalize-history.ts";
import { toToolName } from "../../../domain/model/tool-call-names.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import {
  type ConverseMessage,
  createUserMessages,
  type ConverseContent,
} from "../../converse/converse-input.ts";
import {
  encodeReasoning,
  encodeToolResult,
  createResumeMessages,
  encodeToolUse,
  type ResumableTurn,
} from "../../converse/resume.ts";
import {
  checkCount,
  checkList,
  checkString,
  checkUnion,
  throwInvalidOption,
  checkHarnessArn,
  checkQualifier,
  checkSessionId,
} from "../check-options.ts";
import {
  encodeSessionHeaders,
  type TraceContext,
  encodeJsonBody,
  type WireRequest,
} from "../wire-request.ts";
import { toHarnessToolCallId } from "./harness-tool-call-id.ts";

/** A tool in the service's form. `createInlineFunction` creates tools which run on the client's side. */
export interface HarnessTool {
  readonly type: string;
  readonly name?: string;
  readonly config?: { readonly [member: string]: unknown };
}

/** Settings which replace the deployed settings for one invocation. */
export interface HarnessOverrides {
  readonly systemPrompt?: string | readonly { readonly text: string }[];
  /** A Bedrock model id, or a model configuration of the service. */
  readonly model?: string | { readonly [member: string]: unknown };
  readonly tools?: readonly HarnessTool[];
  readonly allowedTools?: readonly string[];
  readonly skills?: readonly { readonly [member: string]: unknown }[];
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
  /** Selects the memory used by the agent. */
  readonly actorId?: string;
}

export interface HarnessInvocation {
  readonly harnessArn: string;
  /** The endpoint. Default of the service: `DEFAULT`. */
  readonly qualifier?: string;
  readonly sessionId: string;
  readonly userId?: string;
  readonly trace?: TraceContext;
  readonly messages: readonly ConverseMessage[];
  readonly overrides?: HarnessOverrides;
}

/** Encodes InvokeHarness with the checks of the service. Throws `invalid_option` with the path of a refused field. */
export function encodeInvokeHarness(invocation: HarnessInvocation): WireRequest {
  const { harnessArn, qualifier, messages, overrides = {} } = invocation;
  checkSessionId("sessionId", invocation.sessionId);
  if (messages.length === 0) throwInvalidOption("messages", messages, "at least one message");
  return {
    method: "POST",
    path: "/harnesses/invoke",
    query: {
      harnessArn: checkHarnessArn("harnessArn", harnessArn),
      ...(qualifier !== undefined && { qualifier: checkQualifier("qualifier", qualifier) }),
    },
    headers: {
      "content-type": "application/json",
      accept: "application/vnd.amazon.eventstream",
      ...encodeSessionHeaders(invocation, { traceparent: 1024, traceId: 1024 }),
    },
    body: encodeJsonBody({ messages, ...encodeOverrides(overrides) }),
  };
}

/** Encodes the overrides. The data plane and the control plane use the same form. */
export function encodeOverrides(overrides: HarnessOverrides): {
  readonly [member: string]: unknown;
} {
  const { systemPrompt, model, tools, allowedTools, skills, actorId } = overrides;
  const { maxIterations, maxTokens, timeoutSeconds } = overrides;
  return {
    ...(systemPrompt !== undefined && { systemPrompt: encodeSystemPrompt(systemPrompt) }),
    ...(model !== undefined && { model: encodeModel(model) }),
    ...(tools !== undefined && { tools: encodeTools(tools) }),
    ...(allowedTools !== undefined && { allowedTools: encodeAllowedTools(allowedTools) }),
    ...(skills !== undefined && { skills: encodeSkills(skills) }),
    ...(maxIterations !== undefined && {
      maxIterations: checkCount("maxIterations", maxIterations),
    }),
    ...(maxTokens !== undefined && { maxTokens: checkCount("maxTokens", maxTokens) }),
    ...(timeoutSeconds !== undefined && {
      timeoutSeconds: checkCount("timeoutSeconds", timeoutSeconds),
    }),
    ...(actorId !== undefined && {
      actorId: checkString("actorId", actorId, /./, "a non-empty string"),
    }),
  };
}

function encodeSystemPrompt(prompt: NonNullable<HarnessOverrides["systemPrompt"]>): unknown {
  const blocks = typeof prompt === "string" ? [{ text: prompt }] : prompt;
  checkList("systemPrompt", blocks);
  for (const [at, block] of blocks.entries()) {
    checkString(
      `systemPrompt[${at}].text`,
      isObject(block) ? block.text : block,
      /./s,
      "a non-empty string",
    );
  }
  return blocks;
}

function encodeModel(model: NonNullable<HarnessOverrides["model"]>): unknown {
  if (typeof model === "string") {
    checkString("model", model, /./, "the id of a model");
    return { bedrockModelConfig: { modelId: model } };
  }
  checkUnion("model", model);
  return model;
}

function encodeTools(tools: readonly HarnessTool[]): unknown {
  for (const [at, tool] of checkList("tools", tools).entries()) {
    const path = `tools[${at}]`;
    if (!isObject(tool)) throwInvalidOption(path, tool, "an object with a type");
    const { type, name, config } = tool;
    checkString(`${path}.type`, type, /./, "the type of a tool");
    if (name !== undefined) checkString(`${path}.name`, name, TOOL_NAME, TOOL_NAME_RULE);
    if (config !== undefined) {
      checkUnion(`${path}.config`, config);
      checkOutboundAuth(`${path}.config.remoteMcp.outboundAuth`, config);
    }
    if (type === "inline_function" && (name === undefined || config === undefined)) {
      throwInvalidOption(path, tool, "a name and a config, as created by createInlineFunction()");
    }
  }
  return tools;
}

/** Checks how a harness authenticates to an MCP server: `awsIam` (with its execution role) or `none`. */
function checkOutboundAuth(path: string, config: unknown): void {
  const { remoteMcp } = isObject(config) ? config : {};
  const auth = isObject(remoteMcp) ? remoteMcp["outboundAuth"] : undefined;
  if (auth === undefined) return;
  checkUnion(path, auth);
  if (!isObject(auth) || auth["awsIam"] === undefined) return;
  const { awsIam } = auth;
  const authPath = `${path}.awsIam`;
  const { service, region } = isObject(awsIam)
    ? awsIam
    : throwInvalidOption(authPath, awsIam, "an object");
  checkString(`${authPath}.service`, service, /^[\w.-]{1,64}$/, "the AWS service to sign for");
  if (region === undefined) return;
  checkString(`${authPath}.region`, region, /^[a-zA-Z0-9-]{1,32}$/, "a region, such as us-east-1");
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOL_NAME_RULE = `1 to 64 letters, digits, "_" and "-"`;

function encodeAllowedTools(allowed: readonly string[]): unknown {
  for (const [at, entry] of checkList("allowedTools", allowed).entries()) {
    const expected = "a tool's name, @server/tool, @builtin or *";
    checkString(`allowedTools[${at}]`, entry, /^(?=.{1,64}$)(?:\*|@?[^/]+(?:\/[^/]+)?)$/, expected);
  }
  return allowed;
}

function encodeSkills(skills: NonNullable<HarnessOverrides["skills"]>): unknown {
  for (const [at, skill] of checkList("skills", skills).entries())
    checkUnion(`skills[${at}]`, skill);
  return skills;
}

/**
 * Encodes the two messages with the results of a turn's open tool calls, with ids valid for Harness, and optional user
 * text after the results.
 */
export function encodeHarnessResume(
  turn: ResumableTurn,
  results: readonly ToolResult[],
  texts: readonly string[],
): ConverseMessage[] {
  const [assistant, user] = createResumeMessages(turn, results);
  const textContent = texts.length === 0 ? [] : createUserMessages(...texts)[0].content;
  return [
    { role: "assistant", content: assistant.content.map(applyHarnessCallId) },
    { role: "user", content: [...user.content.map(applyHarnessCallId), ...textContent] },
  ];
}

/**
 * Encodes an imported conversation as messages before a new user message. Content refused by Harness is omitted or
 * rewritten: tool calls without results, reasoning without a signature, and invalid tool names.
 */
export function encodeHarnessHistory(history: readonly ModelMessage[]): ConverseMessage[] {
  const supportedMessages = history.map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter(isSupportedBlock),
  }));
  return normalizeHistory(supportedMessages).map(({ role, blocks }) => ({
    role,
    content: blocks.flatMap(encodeHistoryBlock).map(applyHarnessCallId),
  }));
}

/** Joins two lists of messages and merges adjacent messages of the same role, so roles alternate. */
export function joinMessages(
  earlier: readonly ConverseMessage[],
  [next, ...rest]: readonly ConverseMessage[],
): ConverseMessage[] {
  const last = earlier.at(-1);
  if (next === undefined) return [...earlier];
  if (last?.role !== next.role) return [...earlier, next, ...rest];
  const { role } = next;
  return [...earlier.slice(0, -1), { role, content: [...last.content, ...next.content] }, ...rest];
}

function isSupportedBlock(block: ModelBlock): boolean {
  if (block.type !== "reasoning") return true;
  return block.signature !== undefined || block.redacted !== undefined;
}

function encodeHistoryBlock(block: ModelBlock): ConverseContent[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text.toWellFormed() }];
    case "reasoning":
      return encodeReasoning(block);
    case "tool-call":
      return [encodeToolUse({ ...block.toolCall, name: toToolName(block.toolCall.name) })];
    case "tool-result":
      return [encodeToolResult(block.result)];
    case "image":
      return [{ text: formatImageNote(block) }];
    default:
      return block satisfies never;
  }
}

function applyHarnessCallId(block: ConverseContent): ConverseContent {
  if ("toolUse" in block) {
    const { toolUse } = block;
    return { toolUse: { ...toolUse, toolUseId: toHarnessToolCallId(toolUse.toolUseId) } };
  }
  if ("toolResult" in block) {
    const { toolResult } = block;
    return { toolResult: { ...toolResult, toolUseId: toHarnessToolCallId(toolResult.toolUseId) } };
  }
  return block;
}
