import { guardInvocation } from "../../../async/invocation-guard.ts";
import {
  connectServer,
  createNotReadyFailure,
  type ServerConnection,
  type ConnectContext,
} from "./connect-server.ts";
import { listTools, type Catalog } from "../tools/list-tools.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";

/** A server that is connected to, and what it offers. */
export interface ConnectedServer {
  readonly connection: ServerConnection;
  readonly catalog: Catalog;
}

/** Connects to a server and asks for its tools, all within its limit. Rejects with its failure, and leaves nothing behind. */
export async function attemptConnection(
  settings: McpServerSettings,
  work: ConnectContext,
): Promise<ConnectedServer> {
  const milliseconds = resolveServerTimes(settings).connectTimeoutMs;
  const guard = guardInvocation(work.clock, work.signal, { limit: "connect", milliseconds });
  let connection: ServerConnection | undefined;
  try {
    connection = await connectServer(settings, { ...work, signal: guard.signal });
    return { connection, catalog: await listTools(connection, settings, guard.signal) };
  } catch (error) {
    await connection?.close();
    const hasTimedOut = guard.reachedLimit !== null && connection !== undefined;
    throw hasTimedOut
      ? createNotReadyFailure(settings, connection?.transport.readStderrTail())
      : error;
  } finally {
    guard.release();
  }
}
