import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import { readDelegateRequest } from "../../domain/workers/worker-request.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import { readRequiredString } from "./request-body.ts";

type WorkerCommandType = "delegate" | "trigger-worker" | "close-worker";

/** Reads a command about the workers of a session. */
export function readWorkerCommand(type: WorkerCommandType, body: JsonObject): SessionCommand {
  switch (type) {
    case "delegate":
      return readDelegateCommand(body);
    case "trigger-worker": {
      const { payload } = body;
      if (payload === undefined)
        throw createInvalidRequestError('"payload" is missing: expected a text or a JSON value');
      return { type, workerId: readRequiredString(body, "workerId"), payload };
    }
    case "close-worker":
      return { type, workerId: readRequiredString(body, "workerId") };
    default:
      return type satisfies never;
  }
}

function readDelegateCommand(body: JsonObject): SessionCommand {
  const { task, name, agent, mode, retriggerable, budget } = body;
  const request = readDelegateRequest(
    omitUndefined({ task, name, agent, mode, retriggerable, budget }),
  );
  if (typeof request === "string") throw createInvalidRequestError(request);
  const { isBackground: _, ...rest } = request;
  return { type: "delegate", ...rest };
}
