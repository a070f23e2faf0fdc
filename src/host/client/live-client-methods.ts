import { SpanlineError } from "../../domain/errors.ts";
import type { ClientStatus } from "../../domain/live-client.ts";
import * as asking from "../../wire/acp/client/agent-requests.ts";
import { readClientList, readLiveClients } from "../../wire/acp/client/agent-results.ts";
import { requireReadable, type RequestAgent } from "./request-agent.ts";
import type { Client } from "./client.ts";
import type { Connection } from "../connection/agent-connection.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type { TrackedSessions } from "./tracked-sessions.ts";
import type { ReconnectingConnection } from "../connection/reconnecting-connection.ts";

type LiveClientMethods = Pick<
  Client,
  "attach" | "takeOver" | "heartbeat" | "detach" | "liveClients"
>;

export interface LiveClientMethodsOptions {
  readonly requestAgent: RequestAgent;
  readonly link: ReconnectingConnection;
  readonly sessions: TrackedSessions;
}

/** The methods for attaching clients to a session. */
export function createLiveClientMethods(options: LiveClientMethodsOptions): LiveClientMethods {
  const { requestAgent, sessions } = options;
  const { requestClients, attachAtCursor } = createClientListRequests(options);

  function requireAttachment(sessionId: string): asking.Attachment {
    const attachment = sessions.getAttachment(sessionId);
    if (attachment !== undefined) return attachment;
    throw new SpanlineError(
      "invalid_option",
      "This client is not attached. Fix: call attach first",
    );
  }

  return {
    async attach(sessionId, attachment) {
      const clients = await attachAtCursor(sessionId, (cursor) =>
        asking.encodeAttachRequest(sessionId, { ...attachment, cursor }),
      );
      sessions.setAttachment(sessionId, attachment);
      return clients;
    },
    async takeOver(sessionId) {
      const attachment = requireAttachment(sessionId);
      return attachAtCursor(sessionId, (cursor) =>
        asking.encodeTakeoverRequest(sessionId, { ...attachment, cursor }),
      );
    },
    async heartbeat(sessionId, metadata) {
      const { clientId } = requireAttachment(sessionId);
      const heartbeat = metadata === undefined ? { clientId } : { clientId, metadata };
      return requestClients(sessionId, asking.encodeHeartbeatRequest(sessionId, heartbeat));
    },
    async detach(sessionId, reason) {
      const { clientId } = requireAttachment(sessionId);
      sessions.clearAttachment(sessionId);
      const detachOptions = reason === undefined ? { clientId } : { clientId, reason };
      return requestClients(sessionId, asking.encodeDetachRequest(sessionId, detachOptions));
    },
    async liveClients(sessionId) {
      const agentRequest = asking.encodeLiveClientsRequest(sessionId);
      return requireReadable(
        agentRequest.method,
        readClientList(await requestAgent(agentRequest, { repeatable: true })),
      );
    },
  };
}

/** The requests whose result is the session's client list. */
function createClientListRequests({ requestAgent, link, sessions }: LiveClientMethodsOptions) {
  function readClients(
    sessionId: string,
    method: string,
    result: Parameters<typeof readLiveClients>[0],
  ) {
    const clients = requireReadable(method, readLiveClients(result));
    sessions.applyLiveClients(sessionId, clients);
    return clients;
  }

  async function requestClients(
    sessionId: string,
    agentRequest: asking.AgentRequest,
  ): Promise<ClientStatus> {
    const repeatable = agentRequest.method !== "session/detach";
    return readClients(
      sessionId,
      agentRequest.method,
      await requestAgent(agentRequest, { repeatable }),
    );
  }

  /** Attaches at the cursor of the last update, so no update is missing. */
  async function attachAtCursor(
    sessionId: string,
    encodeRequest: (cursor: string | undefined) => asking.AgentRequest,
  ): Promise<ClientStatus> {
    const attach = async (connection: Connection, cursor?: string): Promise<ClientStatus> => {
      const agentRequest = encodeRequest(cursor);
      return readClients(sessionId, agentRequest.method, await connection.request(agentRequest));
    };
    for (;;) {
      const { connection, agent } = await link.getConnection();
      try {
        return await sessions.attachAtCursor(connection, agent, { sessionId, attach });
      } catch (error) {
        if (!hasErrorCode(error, "connection_lost")) throw error;
      }
    }
  }

  return { requestClients, attachAtCursor };
}
