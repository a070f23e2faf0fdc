import { isObject, type JsonValue } from "../domain/json.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { digestOf } from "../platform/digest.ts";
import { refused } from "./refused.ts";

type Accepted = Extract<CommandReply, { readonly status: "accepted" }>;

/**
 * As it is written down: with what was asked, so that another command under the same id is not taken for it. Who was attached
 * then is not: whoever asks again wants to know who is now.
 */
export function replyRecord(reply: Accepted, command: unknown): JsonValue {
  const { status, promptId, turnId, seq } = reply;
  return {
    status,
    ...(promptId !== undefined && { promptId }),
    ...(turnId !== undefined && { turnId }),
    ...(seq !== undefined && { seq }),
    digest: digestOf(command),
  };
}

/** The reply that a command got the first time. Only accepted commands are written down. */
export function recordedReply(value: JsonValue, command: unknown): CommandReply {
  const { promptId, turnId, seq, digest } = isObject(value) ? value : {};
  if (digest !== digestOf(command)) {
    const message = "This command's id was used for another command; give every command its own";
    return refused("conflict", message, { reason: "other_command" });
  }
  return {
    status: "accepted",
    ...(typeof promptId === "string" && { promptId }),
    ...(typeof turnId === "string" && { turnId }),
    ...(typeof seq === "number" && { seq }),
  };
}
