import { createItemQueue } from "../../async/item-queue.ts";
import { randomString } from "../../platform/random.ts";
import { createUnknownAgentError } from "../../session/runtime/session-opening.ts";
import type { Sessions } from "../../session/sessions.ts";
import { createAcpConnection } from "../../surfaces/acp/connection/acp-connection.ts";
import { createPendingCounter } from "../../surfaces/acp/connection/pending-work.ts";
import type { AcpLog } from "../../surfaces/acp/connection/client-link.ts";
import { disconnectGracefully } from "../../surfaces/acp/connection/graceful-disconnect.ts";
import type { LineWriter } from "../../surfaces/acp/connection/line-writer.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import { localPrincipal } from "../local-principal.ts";
import { openBridge } from "../open-bridge.ts";

export interface InProcessOptions extends BridgeOptions {
  readonly log: AcpLog;
}

/** The client's end of a bridge that runs in the client's own process, or is joined from there. */
export interface InProcessAcp {
  /** Lines from the bridge. */
  readonly incoming: AsyncIterable<{ readonly type: "line"; readonly text: string }>;
  send(line: string): void;
  /** Resolves when the bridge has capacity for more input (backpressure). */
  ready(): Promise<void>;
  /** Disconnects the client. */
  close(): void;
  /** Throws `not_found` if no agent has this name. */
  readonly checkAgent: (name: string) => void;
  /** True if this process runs the sessions. */
  readonly isOwner: boolean;
  /** Resolves when the client is disconnected and the bridge is closed. */
  whenClosed(): Promise<void>;
}

/** Runs or joins a bridge for one client of this process, without a stream between them. */
export async function openInProcessAcp(options: InProcessOptions): Promise<InProcessAcp> {
  const bridge = openBridge(options);
  try {
    const { isOwner } = await bridge.getOwnership();
    const connection = connectClient(bridge.sessions, options);
    return {
      ...connection,
      checkAgent(name) {
        const { agents } = bridge.sessions;
        // The same error as for a `session/new` request with this agent.
        const details = { method: "session/new" };
        if (!agents.includes(name)) throw createUnknownAgentError(name, agents, details);
      },
      isOwner,
      async whenClosed() {
        await connection.whenClosed();
        await bridge.close();
      },
    };
  } catch (error) {
    await bridge.close();
    throw error;
  }
}

function connectClient(sessions: Sessions, { clock, version, log }: InProcessOptions) {
  const gone = new AbortController();
  const backlog = createPendingCounter();
  const queue = createItemQueue<string>(close);
  const writer: LineWriter = {
    disconnectSignal: gone.signal,
    get queuedCharacters() {
      return backlog.length;
    },
    write(line) {
      if (queue.push(line)) backlog.add(line.length);
    },
    waitUntilBelow: (characters) => backlog.waitUntilBelow(characters),
  };
  const connection = createAcpConnection({
    sessions,
    principal: localPrincipal,
    isLocalUser: true,
    isSameMachine: true,
    hasCursors: true,
    connectionId: randomString(16),
    version,
    clock,
    writer,
    log,
  });

  async function* incoming() {
    for await (const line of queue) {
      backlog.remove(line.length);
      yield { type: "line", text: line.trimEnd() } as const;
    }
  }

  function close(): void {
    queue.end();
    gone.abort();
    backlog.clear();
  }

  return {
    incoming: incoming(),
    send(line: string) {
      if (!gone.signal.aborted) connection.receive({ type: "line", text: line, offset: 0 });
    },
    ready: () => (gone.signal.aborted ? Promise.resolve() : connection.waitForCapacity()),
    close,
    async whenClosed() {
      close();
      await disconnectGracefully(connection, writer, clock);
    },
  };
}
