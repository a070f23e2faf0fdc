import { SpanlineError } from "../domain/errors.ts";
import type { LiveClients } from "../domain/live-client.ts";
import * as asking from "../wire/acp/client/agent-requests.ts";
import { readClientList, readLiveClients } from "../wire/acp/client/agent-results.ts";
import { wanted, type AskAgent } from "./ask-agent.ts";
import type { Client } from "./client.ts";
import type { Connection } from "./connection.ts";
import { isCode } from "./is-code.ts";
import type { KnownSessions } from "./known-sessions.ts";
import type { Link } from "./link.ts";

type LiveCalls = Pick<Client, "attach" | "takeOver" | "heartbeat" | "detach" | "liveClients">;

export interface LiveCallsOptions {
  readonly ask: AskAgent;
  readonly link: Link;
  readonly sessions: KnownSessions;
}

/** The calls about who is attached to a session. */
export function liveCalls({ ask, link, sessions }: LiveCallsOptions): LiveCalls {
  function heard(sessionId: string, method: string, result: Parameters<typeof readLiveClients>[0]) {
    const clients = wanted(method, readLiveClients(result));
    sessions.live(sessionId, clients);
    return clients;
  }

  async function live(sessionId: string, asked: asking.AgentRequest): Promise<LiveClients> {
    const repeatable = asked.method !== "session/detach";
    return heard(sessionId, asked.method, await ask(asked, { repeatable }));
  }

  /** A bridge begins to tell a client that attaches anew what comes: of what it has not been told nothing is left out. */
  async function inPlace(sessionId: string, asked: asking.AgentRequest): Promise<LiveClients> {
    const attach = async (connection: Connection): Promise<LiveClients> =>
      heard(sessionId, asked.method, await connection.request(asked));
    for (;;) {
      const { connection, agent } = await link.current();
      try {
        return await sessions.inPlace(connection, agent, { sessionId, attach });
      } catch (error) {
        if (!isCode(error, "connection_lost")) throw error;
      }
    }
  }

  function attachmentOf(sessionId: string): asking.Attachment {
    const attachment = sessions.attachmentOf(sessionId);
    if (attachment !== undefined) return attachment;
    throw new SpanlineError("invalid_option", "This client is not attached; call attach first");
  }

  return {
    async attach(sessionId, attachment) {
      const clients = await inPlace(sessionId, asking.attachRequest(sessionId, attachment));
      sessions.attached(sessionId, attachment);
      return clients;
    },
    async takeOver(sessionId) {
      return inPlace(sessionId, asking.takeoverRequest(sessionId, attachmentOf(sessionId)));
    },
    async heartbeat(sessionId, metadata) {
      const { clientId } = attachmentOf(sessionId);
      const own = metadata === undefined ? { clientId } : { clientId, metadata };
      return live(sessionId, asking.heartbeatRequest(sessionId, own));
    },
    async detach(sessionId, reason) {
      const { clientId } = attachmentOf(sessionId);
      sessions.detached(sessionId);
      const why = reason === undefined ? { clientId } : { clientId, reason };
      return live(sessionId, asking.detachRequest(sessionId, why));
    },
    async liveClients(sessionId) {
      const asked = asking.liveClientsRequest(sessionId);
      return wanted(asked.method, readClientList(await ask(asked, { repeatable: true })));
    },
  };
}
