import { guardCall } from "../../async/call-guard.ts";
import { connectServer, notReady, type Connection, type ConnectWork } from "./connect-server.ts";
import { listTools, type Catalog } from "./list-tools.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";

/** A server that is connected to, and what it offers. */
export interface Attached {
  readonly connection: Connection;
  readonly catalog: Catalog;
}

/** Connects to a server and asks for its tools, all within its limit. Rejects with its failure, and leaves nothing behind. */
export async function attemptServer(
  settings: McpServerSettings,
  work: ConnectWork,
): Promise<Attached> {
  const milliseconds = timesOf(settings).connectTimeoutMs;
  const guard = guardCall(work.clock, work.signal, { limit: "connect", milliseconds });
  let connection: Connection | undefined;
  try {
    connection = await connectServer(settings, { ...work, signal: guard.signal });
    return { connection, catalog: await listTools(connection, settings, guard.signal) };
  } catch (error) {
    await connection?.close();
    const isLate = guard.reached !== null && connection !== undefined;
    throw isLate ? notReady(settings, connection?.opened.lastWords()) : error;
  } finally {
    guard.release();
  }
}
