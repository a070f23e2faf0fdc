import type { JsonObject } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { isTerminalStatus, type Worker } from "../../../domain/workers/worker.ts";
import { readDelegateRequest } from "../../../domain/workers/worker-request.ts";
import { formatIsoTime } from "../../../text/format-iso-time.ts";
import {
  accept,
  decodeSessionId,
  readHarnMeta,
  rejectParams,
  type DecodeResult,
} from "../json-fields.ts";

/** A host's request about the workers of a session. */
export type WorkerRequest = { readonly sessionId: string } & (
  | {
      readonly type: "worker";
      readonly command: WorkerCommand;
      /** The client's id of the request. A repeated request with the same id gets the response of the first. */
      readonly commandId?: string;
    }
  | { readonly type: "workers" }
);

export type WorkerCommand = Extract<
  SessionCommand,
  { readonly type: "delegate" | "trigger-worker" | "close-worker" }
>;

type DecodeWorkerRequest = (params: JsonObject) => DecodeResult<WorkerRequest>;

/** The methods about workers. */
export const WORKER_METHODS: readonly [string, DecodeWorkerRequest][] = [
  ["session/delegate", createDecoder(decodeDelegate)],
  ["session/worker_trigger", createDecoder(decodeTrigger)],
  ["session/close_agent", createDecoder(decodeClose)],
  ["session/workers", decodeWorkers],
];

function createDecoder(
  decodeCommand: (params: JsonObject) => DecodeResult<WorkerCommand>,
): DecodeWorkerRequest {
  return (params) => {
    const session = decodeSessionId(params);
    if (!session.ok) return session;
    const command = decodeCommand(params);
    if (!command.ok) return command;
    const { commandId } = readHarnMeta(params);
    const isId = typeof commandId === "string" && commandId !== "" && commandId.length <= MAX_ID;
    if (commandId !== undefined && !isId)
      return rejectParams(
        `"_meta.harn.commandId" is not a valid id: expected 1 to ${MAX_ID} characters`,
      );
    const idField = isId ? { commandId } : {};
    return accept({ type: "worker", sessionId: session.value, command: command.value, ...idField });
  };
}

function decodeWorkers(params: JsonObject): DecodeResult<WorkerRequest> {
  const session = decodeSessionId(params);
  return session.ok ? accept({ type: "workers", sessionId: session.value }) : session;
}

function decodeDelegate(params: JsonObject): DecodeResult<WorkerCommand> {
  const { sessionId: _, _meta: __, ...request } = params;
  const read = readDelegateRequest(request);
  if (typeof read === "string") return rejectParams(read);
  const { isBackground: ___, ...rest } = read;
  return accept({ type: "delegate", ...rest });
}

function decodeTrigger(params: JsonObject): DecodeResult<WorkerCommand> {
  const workerId = readWorkerId(params);
  if (workerId === undefined) return rejectParams(WORKER_ID_PROBLEM);
  const { payload } = params;
  if (payload === undefined)
    return rejectParams('"payload" is missing: expected a text or a JSON value');
  return accept({ type: "trigger-worker", workerId, payload });
}

function decodeClose(params: JsonObject): DecodeResult<WorkerCommand> {
  const workerId = readWorkerId(params);
  return workerId === undefined
    ? rejectParams(WORKER_ID_PROBLEM)
    : accept({ type: "close-worker", workerId });
}

function readWorkerId({ workerId }: JsonObject): string | undefined {
  const isId = typeof workerId === "string" && workerId !== "" && workerId.length <= MAX_ID;
  return isId ? workerId : undefined;
}

const MAX_ID = 200;
const WORKER_ID_PROBLEM = `"workerId" is not a valid id: expected 1 to ${MAX_ID} characters`;

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

/** Encodes the response to an accepted command. */
export function encodeWorkerResult({ workerId, workerStatus }: AcceptedReply): object {
  return omitUndefined({ workerId, status: workerStatus });
}

/** Encodes the open workers of a session, in the order of their creation. */
export function encodeWorkers(workers: readonly Worker[]): object {
  return {
    workers: workers.map((worker) => ({
      workerId: worker.workerId,
      workerName: worker.name,
      workerTask: worker.task,
      workerMode: worker.mode,
      status: worker.status,
      terminal: isTerminalStatus(worker.status),
      agent: worker.agent,
      childSessionId: worker.sessionId,
      cycle: worker.cycle,
      startedAt: formatIsoTime(worker.startedAt),
    })),
  };
}
