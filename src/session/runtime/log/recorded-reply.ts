import { isObject, type JsonValue } from "../../../data/json.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import { digestValue } from "../../../platform/digest.ts";
import { refuse } from "../../refuse-command.ts";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

/**
 * As it is written down: with what was asked, so that another command under the same id is not taken for it. Who was attached
 * then is not: whoever asks again wants to know who is now.
 */
export function encodeReply(reply: AcceptedReply, command: unknown): JsonValue {
  const { status, promptId, turnId, seq } = reply;
  return {
    status,
    ...(promptId !== undefined && { promptId }),
    ...(turnId !== undefined && { turnId }),
    ...(seq !== undefined && { seq }),
    digest: digestValue(command),
  };
}

/** The reply that a command got the first time. Only accepted commands are written down. */
export function decodeReply(value: JsonValue, command: unknown): CommandReply {
  const { promptId, turnId, seq, digest } = isObject(value) ? value : {};
  if (digest !== digestValue(command)) {
    const message = "This command's id was used for another command; give every command its own";
    return refuse("conflict", message, { reason: "other_command" });
  }
  return {
    status: "accepted",
    ...(typeof promptId === "string" && { promptId }),
    ...(typeof turnId === "string" && { turnId }),
    ...(typeof seq === "number" && { seq }),
  };
}
