import { isObject, type JsonObject } from "../../data/json.ts";
import type { ChunkOptions } from "./chunk-state.ts";

/** What an answer is made with, beside the events: the log keeps it with the prompt. */
export interface ChatNote {
  readonly model: string;
  readonly trace: NonNullable<ChunkOptions["trace"]>;
  /** Carried along on the assistant's messages. */
  readonly state: JsonObject;
}

export function encodeChatNote({ model, trace, state }: ChatNote): JsonObject {
  return { surface: "chat", model, trace, state };
}

/** Of a prompt that came another way, the agent's name is all there is. */
export function readChatNote(note: JsonObject, agent: string): ChatNote {
  const { surface, model, trace, state } = note;
  const isOurs = surface === "chat";
  return {
    model: isOurs && typeof model === "string" ? model : agent,
    trace: isOurs && trace === "none" ? "none" : "items",
    state: isOurs && isObject(state) ? state : {},
  };
}
