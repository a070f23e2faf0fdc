import { toSpanlineError } from "../../../domain/errors.ts";
import {
  encodeWorkerResult,
  encodeWorkers,
  type WorkerRequest,
} from "../../../wire/acp/decode/worker-messages.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { SessionTable } from "./session-table.ts";

interface WorkerContext {
  readonly link: ClientLink;
  readonly table: SessionTable;
}

/** Handles a request about the workers of a session. The response does not wait for a worker. */
export async function handleWorkerRequest(
  request: RpcRequest,
  workerRequest: WorkerRequest,
  { link, table }: WorkerContext,
): Promise<void> {
  const { sessionId } = workerRequest;
  if (workerRequest.type === "workers") {
    await table.find(sessionId);
    const { workers } = await link.sessions.status(sessionId);
    return link.respond(request, { ok: true, result: encodeWorkers(workers) });
  }
  const { command, commandId } = workerRequest;
  const session = await table.resume(sessionId);
  // The client learns the id of a worker before the updates of the worker.
  const continueFeed = session.pauseFeed();
  try {
    const reply = await session.command(command, commandId);
    if (reply.status === "refused") throw toSpanlineError(reply.failure);
    link.respond(request, { ok: true, result: encodeWorkerResult(reply) });
  } finally {
    continueFeed();
  }
}
