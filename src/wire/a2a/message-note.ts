import type { JsonObject } from "../../data/json.ts";

/** The note stored with a prompt from A2A: the sender's id of the message. */
export function createMessageNote(messageId: string): JsonObject {
  return { surface: "a2a", messageId };
}

/** Undefined for a prompt of another surface. */
export function readMessageId(note: JsonObject | undefined): string | undefined {
  const { surface, messageId } = note ?? {};
  return surface === "a2a" && typeof messageId === "string" ? messageId : undefined;
}
