import { isObject } from "../../data/json.ts";
import type { Fields } from "../converse/schema.ts";
import { keepUnknown, type EmitEvent } from "../converse/state.ts";
import type { ChatState, ContentKind } from "./state.ts";
import { stepConverse } from "./converse-adapter.ts";

/** OpenAI's chunks have no field for reasoning; DeepSeek, vLLM and Ollama each use a different name. */
const REASONING_MEMBERS = ["reasoning_content", "reasoning", "thinking"] as const;

export function foldContent(state: ChatState, delta: Fields, emit: EmitEvent): void {
  const { content, refusal } = delta;
  // Some servers send the same reasoning in two fields; the first non-empty field is used.
  const member = REASONING_MEMBERS.find((name) => isNonEmptyString(delta[name]));
  if (member !== undefined) appendContent(state, "reasoning", delta[member], emit);
  if (Array.isArray(content)) for (const part of content) foldPart(state, part, emit);
  else if (isObject(content)) foldPart(state, content, emit);
  else appendContent(state, "text", content, emit);
  if (!isNonEmptyString(refusal)) return;
  state.hasRefusal = true;
  appendContent(state, "refusal", refusal, emit);
}

/** Mistral sends content in parts for reasoning models. */
function foldPart(state: ChatState, part: unknown, emit: EmitEvent): void {
  const fields = isObject(part) ? part : {};
  const { type, text, thinking } = fields;
  if (type === "text" && typeof text === "string") return appendContent(state, "text", text, emit);
  if (type === "thinking" && Array.isArray(thinking)) {
    for (const thought of thinking) {
      appendContent(state, "reasoning", isObject(thought) ? thought["text"] : thought, emit);
    }
    return;
  }
  keepUnknown(state.converse, { what: "delta", name: "content", raw: part }, emit);
}

/** Text of a different kind starts a new block. */
function appendContent(state: ChatState, kind: ContentKind, text: unknown, emit: EmitEvent): void {
  if (!isNonEmptyString(text)) return;
  if (state.openContent?.kind !== kind) {
    closeContent(state, emit);
    state.openContent = { kind, index: state.nextIndex++ };
  }
  const delta = kind === "reasoning" ? { reasoningContent: { text } } : { text };
  stepConverse(
    state,
    "contentBlockDelta",
    { contentBlockIndex: state.openContent.index, delta },
    emit,
  );
}

export function closeContent(state: ChatState, emit: EmitEvent): void {
  if (state.openContent === null) return;
  stepConverse(state, "contentBlockStop", { contentBlockIndex: state.openContent.index }, emit);
  state.openContent = null;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
