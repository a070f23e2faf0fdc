import type { JsonValue } from "../../data/json.ts";
import * as asking from "../../wire/acp/client/agent-requests.ts";
import {
  readOpenedSession,
  readSessionPage,
  type OpenedSession,
} from "../../wire/acp/client/agent-results.ts";
import { requireReadable, type RequestAgent, type AgentRequestOptions } from "./request-agent.ts";
import type { Client } from "./client.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type { TrackedSessions } from "./tracked-sessions.ts";
import { runInReplayScope } from "./resume-session.ts";

type SessionMethods = Pick<
  Client,
  | "newSession"
  | "loadSession"
  | "resumeSession"
  | "forkSession"
  | "listSessions"
  | "closeSession"
  | "deleteSession"
  | "setMode"
  | "setOption"
>;

export interface SessionMethodsOptions {
  readonly requestAgent: RequestAgent;
  readonly sessions: TrackedSessions;
  /** Called before and after a replay of a session's history. */
  readonly onHistory: (sessionId: string, state: "begins" | "ends") => void;
}

/** The methods for opening, listing, closing and configuring sessions. */
export function createSessionMethods(options: SessionMethodsOptions): SessionMethods {
  const { requestAgent, sessions, onHistory } = options;
  const open = createSessionOpener(options);

  /** Loads a session. If the connection is lost during the replay, the whole replay starts again. */
  function load(sessionId: string, location: asking.SessionLocation): Promise<OpenedSession> {
    return open(asking.encodeExistingSessionRequest("load", sessionId, location), location, {
      known: sessionId,
      attempt: (attempt) => runInReplayScope((state) => onHistory(sessionId, state), attempt),
    });
  }

  /** Closes or deletes a session. A session that no longer exists counts as success. */
  async function endSession(operation: "close" | "delete", sessionId: string): Promise<void> {
    sessions.forget(sessionId);
    try {
      await requestAgent(asking.encodeSessionRequest(operation, sessionId), { repeatable: true });
    } catch (error) {
      if (!hasErrorCode(error, "not_found")) throw error;
    }
  }

  return {
    newSession: (location) => open(asking.encodeNewSessionRequest(location), location),
    loadSession: load,
    resumeSession: (sessionId, location) =>
      open(asking.encodeExistingSessionRequest("resume", sessionId, location), location, {
        known: sessionId,
      }),
    forkSession: (sessionId, location) =>
      open(asking.encodeExistingSessionRequest("fork", sessionId, location), location),
    async listSessions(query = {}) {
      const result = await requestAgent(asking.encodeListRequest(query), { repeatable: true });
      return requireReadable("session/list", readSessionPage(result));
    },
    closeSession: (sessionId) => endSession("close", sessionId),
    deleteSession: (sessionId) => endSession("delete", sessionId),
    async setMode(sessionId, modeId) {
      await requestAgent(asking.encodeModeRequest(sessionId, modeId), { repeatable: true });
    },
    async setOption(sessionId, option, value) {
      const agentRequest = asking.encodeOptionRequest(sessionId, { option, value });
      const result = await requestAgent(agentRequest, { repeatable: true });
      return requireReadable("session/set_config_option", readOpenedSession(result, sessionId))
        .options;
    },
  };
}

interface OpenOptions extends Pick<AgentRequestOptions, "attempt"> {
  /** The id of an existing session. Undefined: the agent creates the id. */
  readonly known?: string;
}

function createSessionOpener({ requestAgent, sessions }: SessionMethodsOptions) {
  return async (
    agentRequest: asking.AgentRequest,
    location: asking.SessionLocation,
    { known, ...options }: OpenOptions = {},
  ): Promise<OpenedSession> => {
    const read = (result: JsonValue) => readOpenedSession(result, known);
    const result = await requestAgent(agentRequest, {
      ...options,
      repeatable: known !== undefined,
      // Registered at the response, so updates right after it belong to a known session.
      onResponse(answer) {
        const opened = answer.ok ? read(answer.result) : undefined;
        if (opened?.ok === true) sessions.open(opened.value, location);
      },
    });
    return requireReadable(agentRequest.method, read(result));
  };
}
