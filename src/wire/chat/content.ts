import { isObject } from "../../domain/json.ts";
import type { Fields } from "../converse/schema.ts";
import { keepUnknown, type Out } from "../converse/state.ts";
import type { ChatState, ContentKind } from "./state.ts";
import { tell } from "./told.ts";

/** Reasoning has no place in OpenAI's own chunks; DeepSeek, vLLM and Ollama each found a name for it. */
const REASONING_MEMBERS = ["reasoning_content", "reasoning", "thinking"] as const;

export function foldContent(state: ChatState, delta: Fields, emit: Out): void {
  const { content, refusal } = delta;
  // Some servers send the same thought under two names.
  const member = REASONING_MEMBERS.find((name) => isText(delta[name]));
  if (member !== undefined) say(state, "reasoning", delta[member], emit);
  if (Array.isArray(content)) for (const part of content) foldPart(state, part, emit);
  else if (isObject(content)) foldPart(state, content, emit);
  else say(state, "text", content, emit);
  if (!isText(refusal)) return;
  state.refused = true;
  say(state, "refusal", refusal, emit);
}

/** Mistral sends content in parts once a model thinks. */
function foldPart(state: ChatState, part: unknown, emit: Out): void {
  const fields = isObject(part) ? part : {};
  const { type, text, thinking } = fields;
  if (type === "text" && typeof text === "string") return say(state, "text", text, emit);
  if (type === "thinking" && Array.isArray(thinking)) {
    for (const thought of thinking) {
      say(state, "reasoning", isObject(thought) ? thought["text"] : thought, emit);
    }
    return;
  }
  keepUnknown(state.converse, { what: "delta", name: "content", raw: part }, emit);
}

/** Text of another kind begins another block. */
function say(state: ChatState, kind: ContentKind, text: unknown, emit: Out): void {
  if (!isText(text)) return;
  if (state.open?.kind !== kind) {
    closeContent(state, emit);
    state.open = { kind, index: state.nextIndex++ };
  }
  const delta = kind === "reasoning" ? { reasoningContent: { text } } : { text };
  tell(state, "contentBlockDelta", { contentBlockIndex: state.open.index, delta }, emit);
}

export function closeContent(state: ChatState, emit: Out): void {
  if (state.open === null) return;
  tell(state, "contentBlockStop", { contentBlockIndex: state.open.index }, emit);
  state.open = null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
