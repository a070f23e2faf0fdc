import { isObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  DELIVERIES,
  INJECTION_STATUSES,
  TOOL_CALL_STATUSES,
  type CommandReply,
} from "../../../domain/session-command.ts";
import { WORKER_STATUSES } from "../../../domain/workers/worker.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { LogEntry } from "../../../store/log-store.ts";
import { refuse } from "../../refuse-command.ts";
import type { SessionInput } from "../../session-input.ts";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

/** Records accepted commands only: a refused command may be sent again. */
export function createCommandRecord(
  input: SessionInput,
  id: string | undefined,
  reply: CommandReply | undefined,
): LogEntry["command"] {
  if (id === undefined || reply?.status !== "accepted") return undefined;
  return { id, reply: encodeReply(reply, findCommand(input)) };
}

/** Returns the reply of the first attempt. Only accepted commands are stored. */
export function decodeReply(value: JsonValue, input: SessionInput): CommandReply {
  const { digest, ...stored } = isObject(value) ? value : {};
  if (digest !== digestValue(findCommand(input))) {
    const message =
      "This command id was used for another command. Fix: use a new id for every command";
    return refuse("conflict", message, { reason: "other_command" });
  }
  const readText = (key: string) => (typeof stored[key] === "string" ? stored[key] : undefined);
  const { seq, deliveredAs, injectionStatus, toolCallStatus } = stored;
  return {
    status: "accepted",
    ...omitUndefined({
      promptId: readText("promptId"),
      turnId: readText("turnId"),
      seq: typeof seq === "number" ? seq : undefined,
      messageId: readText("messageId"),
      reminderId: readText("reminderId"),
      compactionId: readText("compactionId"),
      subscriptionId: readText("subscriptionId"),
      deliveredAs: DELIVERIES.find((delivery) => delivery === deliveredAs),
      injectionStatus: INJECTION_STATUSES.find((status) => status === injectionStatus),
      toolCallStatus: TOOL_CALL_STATUSES.find((status) => status === toolCallStatus),
      toolName: readText("toolName"),
      workerId: readText("workerId"),
      workerStatus: WORKER_STATUSES.find((status) => status === stored["workerStatus"]),
    }),
  };
}

/**
 * The stored form of a reply. Includes a digest of the command, so another command with the same id is detected.
 * Excludes the client status, because a repeated command must return the current one.
 */
function encodeReply(reply: AcceptedReply, command: unknown): JsonValue {
  const { clientStatus: _, ...stored } = reply;
  return { ...omitUndefined(stored), digest: digestValue(command) };
}

function findCommand(input: SessionInput): unknown {
  if (input.type === "open-requested") return input.firstCommand?.command;
  return input.type === "command-received" ? input.command : undefined;
}
