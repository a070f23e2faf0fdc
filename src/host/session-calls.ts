import type { JsonValue } from "../domain/json.ts";
import * as asking from "../wire/acp/client/agent-requests.ts";
import {
  readOpened,
  readSessionPage,
  type OpenedSession,
} from "../wire/acp/client/agent-results.ts";
import { wanted, type AskAgent, type AskOptions } from "./ask-agent.ts";
import type { Client } from "./client.ts";
import { isCode } from "./is-code.ts";
import type { KnownSessions } from "./known-sessions.ts";
import { toldWhole } from "./told-whole.ts";

type SessionCalls = Pick<
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

export interface SessionCallsOptions {
  readonly ask: AskAgent;
  readonly sessions: KnownSessions;
  /** Called before a session is told from its beginning, and after it. */
  readonly history: (sessionId: string, state: "begins" | "ends") => void;
}

/** The calls about whole sessions. */
export function sessionCalls({ ask, sessions, history }: SessionCallsOptions): SessionCalls {
  async function open(
    asked: asking.AgentRequest,
    place: asking.SessionPlace,
    { known, ...options }: Pick<AskOptions, "attempt"> & { readonly known?: string } = {},
  ): Promise<OpenedSession> {
    const read = (result: JsonValue) => readOpened(result, known);
    const result = await ask(asked, {
      ...options,
      repeatable: known !== undefined,
      // What is told behind the answer is told of a session that is known.
      answered(answer) {
        const opened = answer.ok ? read(answer.result) : undefined;
        if (opened?.ok === true) sessions.open(opened.value, place);
      },
    });
    return wanted(asked.method, read(result));
  }

  /** Where the connection is lost in the middle, all is told once more. */
  function load(sessionId: string, place: asking.SessionPlace): Promise<OpenedSession> {
    return open(asking.takeUpRequest("load", sessionId, place), place, {
      known: sessionId,
      attempt: (attempt) => toldWhole((state) => history(sessionId, state), attempt),
    });
  }

  /** One that is not there any more is what was wanted. */
  async function end(how: "close" | "delete", sessionId: string): Promise<void> {
    sessions.forget(sessionId);
    try {
      await ask(asking.sessionRequest(how, sessionId), { repeatable: true });
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
    }
  }

  return {
    newSession: (place) => open(asking.newSessionRequest(place), place),
    loadSession: load,
    resumeSession: (sessionId, place) =>
      open(asking.takeUpRequest("resume", sessionId, place), place, { known: sessionId }),
    forkSession: (sessionId, place) => open(asking.takeUpRequest("fork", sessionId, place), place),
    async listSessions(listed = {}) {
      const result = await ask(asking.listRequest(listed), { repeatable: true });
      return wanted("session/list", readSessionPage(result));
    },
    closeSession: (sessionId) => end("close", sessionId),
    deleteSession: (sessionId) => end("delete", sessionId),
    async setMode(sessionId, modeId) {
      await ask(asking.modeRequest(sessionId, modeId), { repeatable: true });
    },
    async setOption(sessionId, option, value) {
      const asked = asking.optionRequest(sessionId, { option, value });
      const result = await ask(asked, { repeatable: true });
      return wanted("session/set_config_option", readOpened(result, sessionId)).options;
    },
  };
}
