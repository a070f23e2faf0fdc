import { isObject, type JsonValue } from "../domain/json.ts";
import type { CommandReply } from "../domain/session-command.ts";

/** The reply that a command got the first time. Only accepted commands are written down. */
export function recordedReply(value: JsonValue): CommandReply {
  const { promptId, turnId } = isObject(value) ? value : {};
  return {
    status: "accepted",
    ...(typeof promptId === "string" && { promptId }),
    ...(typeof turnId === "string" && { turnId }),
  };
}
