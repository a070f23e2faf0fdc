import type { SubmittedPart } from "../../../domain/session-command.ts";
import { isAbsent, readObject, readString } from "./body-fields.ts";
import type { InputItem, MessageInput } from "./input-item.ts";
import { toPromptParts } from "./prompt-parts.ts";
import { readInput } from "./read-input.ts";
import { createFieldError } from "./request-error.ts";

/** The type of a frame which sends a message to a running response. */
export const STEER_TYPE = "response.steer";

/** A message for a running response. */
export interface SteerRequest {
  readonly previousResponseId: string;
  readonly content: readonly SubmittedPart[];
}

/** Validates a WebSocket frame which steers a response. Its input is text, or user messages with text and images. */
export function readSteerFrame(frame: unknown): SteerRequest {
  const { previous_response_id: id, input } = readObject(frame, "frame");
  if (isAbsent(id))
    throw createFieldError("previous_response_id", "is missing; name the response to steer");
  const previousResponseId = readString(id, "previous_response_id", MAX_ID_LENGTH);
  const messages = readInput(input).map(requireUserMessage);
  if (messages.length === 0)
    throw createFieldError("input", "is missing: expected a string or user messages");
  return { previousResponseId, content: toPromptParts(messages.flatMap(({ parts }) => parts)) };
}

function requireUserMessage(item: InputItem): MessageInput {
  if (item.kind === "message" && item.role === "user") return item;
  throw createFieldError(item.path, "is not a user message; only user messages steer a response");
}

const MAX_ID_LENGTH = 512;
