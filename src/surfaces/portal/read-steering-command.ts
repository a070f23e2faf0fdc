import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { readWatchRequest } from "../../domain/outputs/file-watch.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import { decodeRemind } from "../../wire/acp/decode/steering-messages.ts";
import { readPromptContent } from "./read-prompt.ts";
import { readOptionalString, readRequiredString } from "./request-body.ts";

type SteeringType =
  | "inject"
  | "replace-inject"
  | "revoke-inject"
  | "remind"
  | "revoke-reminder"
  | "resume-daemon"
  | "cancel-tool-call"
  | "watch-files"
  | "unwatch-files";

/** Reads a command about messages and reminders for a running turn. */
export function readSteeringCommand(type: SteeringType, body: JsonObject): SessionCommand {
  switch (type) {
    case "inject":
      return { type, mode: readInjectMode(body), content: readPromptContent(body) };
    case "replace-inject":
      return {
        type,
        messageId: readRequiredString(body, "messageId"),
        content: readPromptContent(body),
      };
    case "revoke-inject":
      return { type, messageId: readRequiredString(body, "messageId") };
    case "remind":
      return readRemindCommand(body);
    case "revoke-reminder":
      return { type, reminderId: readRequiredString(body, "reminderId") };
    case "resume-daemon":
      return { type };
    case "cancel-tool-call": {
      const reason = readOptionalString(body, "reason");
      const toolCallId = readRequiredString(body, "toolCallId");
      return { type, toolCallId, ...omitUndefined({ reason }) };
    }
    case "watch-files": {
      const watch = readWatchRequest(body);
      if (typeof watch === "string") throw createInvalidRequestError(watch);
      return { type, ...watch };
    }
    case "unwatch-files":
      return { type, subscriptionId: readRequiredString(body, "subscriptionId") };
    default:
      return type satisfies never;
  }
}

function readInjectMode(body: JsonObject): "steer" | "queue" {
  const mode = readOptionalString(body, "mode") ?? "steer";
  if (mode === "steer" || mode === "queue") return mode;
  throw createInvalidRequestError(`"mode" is "${mode}": expected steer or queue`);
}

/** The field `reminder` has the keys of `session/remind`, so both have the same validation. */
function readRemindCommand({ reminder = {} }: JsonObject): SessionCommand {
  const decoded = decodeRemind({ reminder });
  if (!decoded.ok) throw createInvalidRequestError(decoded.error.message);
  if (decoded.value.type !== "steer") throw new Error("A reminder is not a command");
  return decoded.value.command;
}
