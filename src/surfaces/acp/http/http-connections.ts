import { ApiError } from "../../../http/routing/api-error.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { Clock } from "../../../platform/clock.ts";
import { randomString } from "../../../platform/random.ts";
import type { AcpConnection } from "../connection/acp-connection.ts";
import { disconnectGracefully } from "../connection/graceful-disconnect.ts";
import type { StreamWriter } from "./stream-writer.ts";

/** The connections of ACP clients that come by requests. Each is its caller's alone. */
export interface HttpConnections {
  /** Throws where there is no room for another one. */
  checkCapacity(): void;
  add(newConnection: NewConnection): HttpConnection;
  /** It counts as used. */
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
  /** Puts off the end that comes when nobody asks or reads. */
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

/** Without its token, this machine's user is somebody who may do less: a connection is not for them what it is with it. */
function isUsableBy(owner: Caller, { id, rights }: Caller): boolean {
  return id === owner.id && owner.rights.every((right) => rights.includes(right));
}

/** A client that is gone does not always say so. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_CONNECTIONS = 1000;

function createTooManyConnectionsError(): ApiError {
  const message = `The bridge has ${MAX_CONNECTIONS} clients connected, as many as it allows`;
  const headers = { "retry-after": "10" };
  return new ApiError(503, "overloaded", message, { hint: "Try again later", headers });
}
