import { parseJson } from "../../../data/json.ts";
import type {
  Content,
  Message,
  ReasoningContent,
  ResultPart,
  Role,
  ToolUse,
} from "../../brains/session-message.ts";
import type { Step } from "../../brains/step.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** Collects the messages of a turn. A message that never stopped is left out. */
export interface TurnTranscript {
  step(step: Step): void;
  readonly messages: readonly Message[];
  /** The tool calls of the last message without results. */
  readonly openCalls: readonly ToolUse[];
  /** The stop reason of the last message. Null before the first message has stopped. */
  readonly reason: string | null;
}

export function createTurnTranscript(): TurnTranscript {
  return new TranscriptBuilder();
}

class TranscriptBuilder implements TurnTranscript {
  readonly messages: Message[] = [];
  #role: Role = "assistant";
  #content: Draft[] = [];
  #open: Draft | null = null;
  #reason: string | null = null;

  step(step: Step): void {
    switch (step.type) {
      case "start":
        this.#role = step.role;
        this.#clear();
        return;
      case "text":
        this.#current("text").text += step.text;
        return;
      case "reasoning":
        this.#current("reasoning").text += step.text;
        return;
      case "signature":
        this.#current("reasoning").signature = step.signature;
        return;
      case "redacted":
        this.#current("reasoning").redacted += step.base64;
        return;
      case "call":
        this.#begin({ type: "call", step, json: "" });
        return;
      case "input":
        this.#current("call").json += step.fragment;
        return;
      case "result":
        this.#begin({ type: "result", id: step.id, status: step.status, parts: [] });
        return;
      case "output":
        this.#current("result").parts.push(...step.parts);
        return;
      case "close":
        this.#open = null;
        return;
      case "stop":
        this.#reason = step.reason;
        this.messages.push({ role: this.#role, content: this.#content.flatMap(toContent) });
        this.#clear();
        return;
      case "output-metadata":
      case "usage":
      case "hook":
      case "pause":
      case "event":
      case "bytes":
      case "fail":
        return;
      default:
        step satisfies never;
    }
  }

  get openCalls(): readonly ToolUse[] {
    const last = this.messages.at(-1);
    if (last?.role !== "assistant" || !leavesToolUsesOpen(this.#reason)) return [];
    return last.content.flatMap((block) => ("toolUse" in block ? [block.toolUse] : []));
  }

  get reason(): string | null {
    return this.#reason;
  }

  #begin(draft: Draft): void {
    this.#open = draft;
    this.#content.push(draft);
  }

  /** The open draft of this type. Begins a draft if the open draft is of another type. */
  #current<Type extends Draft["type"]>(type: Type): Extract<Draft, { type: Type }> {
    if (this.#open?.type !== type) this.#begin(createDraft(type));
    return this.#open as Extract<Draft, { type: Type }>;
  }

  #clear(): void {
    this.#content = [];
    this.#open = null;
  }
}

/** Some models call a tool and stop with `end_turn`. */
function leavesToolUsesOpen(reason: string | null): boolean {
  return reason === "tool_use" || reason === "end_turn";
}

/**
 * The messages of a turn that the session stores. The service does not store a message with open tool calls. In a
 * message cut by a limit, the tool calls are removed, because they cannot be answered. Empty messages are removed.
 */
export function selectStoredMessages(
  turnTranscript: TurnTranscript,
  keepsOpenCalls: boolean,
): readonly Message[] {
  const { messages, openCalls, reason } = turnTranscript;
  if (openCalls.length > 0) return keepsOpenCalls ? messages : messages.slice(0, -1);
  const last = messages.at(-1);
  const isTruncated = last?.role === "assistant" && !leavesToolUsesOpen(reason);
  const storedMessages = isTruncated ? [...messages.slice(0, -1), dropToolUses(last)] : messages;
  return storedMessages.filter(({ content }) => content.length > 0);
}

function dropToolUses({ role, content }: Message): Message {
  return { role, content: content.filter((block) => !("toolUse" in block)) };
}

type Draft =
  | { readonly type: "text"; text: string }
  | { readonly type: "reasoning"; text: string; signature: string; redacted: string }
  | { readonly type: "call"; readonly step: Extract<Step, { type: "call" }>; json: string }
  | {
      readonly type: "result";
      readonly id: string;
      readonly status: "success" | "error";
      readonly parts: ResultPart[];
    };

function createDraft(type: Draft["type"]): Draft {
  switch (type) {
    case "text":
      return { type, text: "" };
    case "reasoning":
      return { type, text: "", signature: "", redacted: "" };
    case "call":
      return {
        type,
        step: { type, id: "", name: "", kind: null },
        json: "",
      };
    case "result":
      return { type, id: "", status: "success", parts: [] };
    default:
      return type satisfies never;
  }
}

function toContent(draft: Draft): Content[] {
  switch (draft.type) {
    case "text":
      return draft.text === "" ? [] : [{ text: draft.text }];
    case "reasoning":
      return [{ reasoningContent: toReasoning(draft) }];
    case "call":
      return [{ toolUse: toToolUse(draft) }];
    case "result":
      return [{ toolResult: { toolUseId: draft.id, status: draft.status, content: draft.parts } }];
    default:
      return draft satisfies never;
  }
}

function toReasoning(draft: Extract<Draft, { type: "reasoning" }>): ReasoningContent {
  const { text, signature, redacted } = draft;
  if (redacted !== "") return { redactedContent: redacted };
  return { reasoningText: { text, ...(signature === "" ? {} : { signature }) } };
}

/** Invalid JSON arguments are stored as text, because the session records the exact output. */
function toToolUse({ step, json }: Extract<Draft, { type: "call" }>): ToolUse {
  const parsed = parseJson(json === "" ? "{}" : json);
  return {
    toolUseId: step.id,
    name: step.name,
    input: parsed.ok ? parsed.value : json,
    ...(step.kind === null ? {} : { type: step.kind }),
    ...omitUndefined({ serverName: step.serverName }),
  };
}
