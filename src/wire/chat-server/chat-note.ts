import { isObject, type JsonObject } from "../../data/json.ts";
import type { ChunkOptions } from "./chunk-state.ts";

/** Settings for encoding a response, in addition to the events. Stored in the log with the prompt. */
export interface ChatNote {
  readonly model: string;
  readonly trace: NonNullable<ChunkOptions["trace"]>;
  /** State copied to the assistant messages. */
  readonly state: JsonObject;
}

export function encodeChatNote({ model, trace, state }: ChatNote): JsonObject {
  return { surface: "chat", model, trace, state };
}

/** Reads the settings. A prompt from another surface has no settings: the model is then the name of the agent. */
export function readChatNote(note: JsonObject, agent: string): ChatNote {
  const { surface, model, trace, state } = note;
  const isOurs = surface === "chat";
  return {
    model: isOurs && typeof model === "string" ? model : agent,
    trace: isOurs && trace === "none" ? "none" : "items",
    state: isOurs && isObject(state) ? state : {},
  };
}
