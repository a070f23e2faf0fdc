import { ApiError } from "../../../http/routing/api-error.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { Clock } from "../../../platform/clock.ts";
import { randomString } from "../../../platform/random.ts";
import type { AcpConnection } from "../connection/acp-connection.ts";
import { disconnectGracefully } from "../connection/graceful-disconnect.ts";
import type { StreamWriter } from "./stream-writer.ts";

/** The connections of ACP clients over HTTP. A connection belongs to the caller that opened it. */
export interface HttpConnections {
  /** Throws 503 if the maximum number of connections is open. */
  checkCapacity(): void;
  add(newConnection: NewConnection): HttpConnection;
  /** Finds a connection of this caller and restarts its idle timeout. */
  find(id: string, caller: Caller): HttpConnection | undefined;
  close(): Promise<void>;
}

export interface HttpConnection {
  readonly id: string;
  readonly acp: AcpConnection;
  readonly events: StreamWriter["readEvents"];
  end(): Promise<void>;
}

interface NewConnection {
  readonly caller: Caller;
  readonly acp: AcpConnection;
  readonly writer: StreamWriter;
}

interface StoredConnection extends HttpConnection {
  readonly caller: Caller;
  /** Restarts the idle timeout. A connection with a reader does not time out. */
  touch(): void;
}

export function createHttpConnections(clock: Clock): HttpConnections {
  const connections = new Map<string, StoredConnection>();

  function createConnection({ caller, acp, writer }: NewConnection): StoredConnection {
    const id = randomString(32);
    let readers = 0;
    let callOff = (): void => {};

    async function end(): Promise<void> {
      callOff();
      if (!connections.delete(id)) return;
      await disconnectGracefully(acp, { waitUntilBelow: async () => {} }, clock);
      writer.close();
    }
    function touch(): void {
      callOff();
      callOff = readers > 0 ? () => {} : clock.schedule(IDLE_TIMEOUT_MS, () => void end());
    }
    return {
      id,
      acp,
      caller,
      touch,
      end,
      async *events(sessionId, disconnectSignal) {
        readers += 1;
        touch();
        try {
          yield* writer.readEvents(sessionId, disconnectSignal);
        } finally {
          readers -= 1;
          if (connections.has(id)) touch();
        }
      },
    };
  }

  return {
    checkCapacity() {
      if (connections.size >= MAX_CONNECTIONS) throw createTooManyConnectionsError();
    },
    add(newConnection) {
      const connection = createConnection(newConnection);
      connections.set(connection.id, connection);
      connection.touch();
      return connection;
    },
    find(id, caller) {
      const stored = connections.get(id);
      if (stored === undefined || !isUsableBy(stored.caller, caller)) return undefined;
      stored.touch();
      return stored;
    },
    async close() {
      await Promise.all(Array.from(connections.values(), (connection) => connection.end()));
    },
  };
}

/** The local user without the bridge's token has fewer rights, and must not use a connection opened with the token. */
function isUsableBy(owner: Caller, { id, rights }: Caller): boolean {
  return id === owner.id && owner.rights.every((right) => rights.includes(right));
}

/** Milliseconds without a request or a reader. Clients do not always send DELETE before leaving. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 1000;

function createTooManyConnectionsError(): ApiError {
  const message = `The bridge has ${MAX_CONNECTIONS} connected clients, the maximum`;
  const headers = { "retry-after": "10" };
  return new ApiError(503, "overloaded", message, { hint: "Try again later", headers });
}
