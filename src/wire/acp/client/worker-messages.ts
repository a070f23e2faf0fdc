import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { BudgetCaps } from "../../../domain/budget.ts";
import { acceptValue, rejectValue, type ReadResult } from "../host/read-result.ts";
import { readObject, readObjects, readString } from "../json-fields.ts";
import type { AgentRequest } from "./agent-requests.ts";
import type { WorkerUpdate } from "./session-update.ts";

/** A task for a worker. */
export interface WorkerTask {
  readonly task: string;
  /** Default: the first line of the task. */
  readonly name?: string;
  /** The agent of the worker. Default: the first agent for workers. */
  readonly agent?: string;
  /** Label of the kind of work. */
  readonly mode?: string;
  /** The worker waits for a trigger after each cycle. Default: false. */
  readonly retriggerable?: boolean;
  readonly budget?: BudgetCaps;
}

/** A worker after a request about it. */
export interface WorkerState {
  readonly workerId: string;
  /** Such as `running` or `awaiting_input`. */
  readonly status: string;
}

/** A worker which has not ended. */
export interface WorkerRow extends WorkerState {
  readonly name: string;
  readonly task: string;
  readonly agent: string;
  /** The session of the worker, which can be attached to like any session. */
  readonly sessionId: string;
}

/** `commandId`: the client's id of the request, which makes it safe to repeat. */
export function encodeDelegateRequest(
  sessionId: string,
  { budget, ...task }: WorkerTask,
  commandId: string,
): AgentRequest {
  const caps: JsonObject | undefined = budget === undefined ? undefined : { ...budget };
  const params = { sessionId, ...task, ...omitUndefined({ budget: caps }) };
  return { method: "session/delegate", params: { ...params, ...encodeCommandId(commandId) } };
}

export function encodeTriggerRequest(
  sessionId: string,
  { workerId, payload }: { readonly workerId: string; readonly payload: JsonValue },
  commandId: string,
): AgentRequest {
  const params = { sessionId, workerId, payload, ...encodeCommandId(commandId) };
  return { method: "session/worker_trigger", params };
}

export function encodeCloseRequest(sessionId: string, workerId: string): AgentRequest {
  return { method: "session/close_agent", params: { sessionId, workerId } };
}

export function encodeWorkersRequest(sessionId: string): AgentRequest {
  return { method: "session/workers", params: { sessionId } };
}

function encodeCommandId(commandId: string): JsonObject {
  return { _meta: { harn: { commandId } } };
}

export function readWorkerState(result: JsonValue): ReadResult<WorkerState> {
  const { workerId, status } = readObject(result);
  return typeof workerId === "string" && typeof status === "string"
    ? acceptValue({ workerId, status })
    : rejectValue('it has no "workerId" and "status"');
}

export function readWorkers(result: JsonValue): ReadResult<readonly WorkerRow[]> {
  return acceptValue(readObjects(readObject(result)["workers"]).flatMap(readWorkerRow));
}

function readWorkerRow(row: JsonObject): WorkerRow[] {
  const { workerId, status, childSessionId: sessionId, terminal } = row;
  // A bridge also lists a worker that has ended until the session of the worker is at rest.
  if (terminal === true) return [];
  if (typeof workerId !== "string" || typeof status !== "string") return [];
  if (typeof sessionId !== "string") return [];
  const [name = "", task = "", agent = ""] = ["workerName", "workerTask", "agent"].map((key) =>
    readString(row[key]),
  );
  return [{ workerId, status, sessionId, name, task, agent }];
}

/** Reads the fields of `worker_update`. Undefined without a worker id. */
export function readWorkerUpdate(fields: JsonObject): WorkerUpdate | undefined {
  const workerId = readString(fields["workerId"]);
  if (workerId === undefined) return undefined;
  const { audit } = fields;
  const metadata = readObject(fields["metadata"] ?? null);
  return {
    type: "worker",
    workerId,
    name: readString(fields["workerName"]) ?? "",
    task: readString(fields["workerTask"]) ?? "",
    mode: readString(fields["workerMode"]) ?? "",
    event: readString(fields["event"]) ?? "",
    status: readString(fields["status"]) ?? "",
    isTerminal: fields["terminal"] === true,
    sessionId: readString(metadata["child_run_id"]) ?? null,
    metadata,
    ...(audit !== undefined && { audit: readObject(audit) }),
  };
}
