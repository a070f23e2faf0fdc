import { ApiError } from "../../http/api-error.ts";
import type { Caller } from "../../http/caller.ts";
import type { Clock } from "../../platform/clock.ts";
import { randomText } from "../../platform/random.ts";
import type { AcpConnection } from "./acp-connection.ts";
import { leaveInTime } from "./leave-in-time.ts";
import type { StreamWriter } from "./stream-writer.ts";

/** The connections of ACP clients that come by requests. Each is its caller's alone. */
export interface HttpConnections {
  /** Throws where there is no room for another one. */
  checkRoom(): void;
  add(given: Given): HttpConnection;
  /** It counts as used. */
  find(id: string, caller: Caller): HttpConnection | undefined;
  close(): Promise<void>;
}

export interface HttpConnection {
  readonly id: string;
  readonly acp: AcpConnection;
  readonly events: StreamWriter["events"];
  end(): Promise<void>;
}

interface Given {
  readonly caller: Caller;
  readonly acp: AcpConnection;
  readonly writer: StreamWriter;
}

interface Kept extends HttpConnection {
  readonly caller: Caller;
  /** Puts off the end that comes when nobody asks or reads. */
  used(): void;
}

export function httpConnections(clock: Clock): HttpConnections {
  const kept = new Map<string, Kept>();

  function keep({ caller, acp, writer }: Given): Kept {
    const id = randomText(32);
    let readers = 0;
    let callOff = (): void => {};

    async function end(): Promise<void> {
      callOff();
      if (!kept.delete(id)) return;
      await leaveInTime(acp, { below: async () => {} }, clock);
      writer.close();
    }
    function used(): void {
      callOff();
      callOff = readers > 0 ? () => {} : clock.after(UNUSED_MS, () => void end());
    }
    return {
      id,
      acp,
      caller,
      used,
      end,
      async *events(sessionId, left) {
        readers += 1;
        used();
        try {
          yield* writer.events(sessionId, left);
        } finally {
          readers -= 1;
          if (kept.has(id)) used();
        }
      },
    };
  }

  return {
    checkRoom() {
      if (kept.size >= MOST_CONNECTIONS) throw tooMany();
    },
    add(given) {
      const connection = keep(given);
      kept.set(connection.id, connection);
      connection.used();
      return connection;
    },
    find(id, caller) {
      const found = kept.get(id);
      if (found === undefined || !isFor(found.caller, caller)) return undefined;
      found.used();
      return found;
    },
    async close() {
      await Promise.all(Array.from(kept.values(), (connection) => connection.end()));
    },
  };
}

/** Without its token, this machine's user is somebody who may do less: a connection is not for them what it is with it. */
function isFor(owner: Caller, { id, rights }: Caller): boolean {
  return id === owner.id && owner.rights.every((right) => rights.includes(right));
}

/** A client that is gone does not always say so. */
const UNUSED_MS = 60_000;
const MOST_CONNECTIONS = 1000;

function tooMany(): ApiError {
  const message = `The bridge has ${MOST_CONNECTIONS} clients connected, as many as it allows`;
  const headers = { "retry-after": "10" };
  return new ApiError(503, "overloaded", message, { hint: "Try again later", headers });
}
