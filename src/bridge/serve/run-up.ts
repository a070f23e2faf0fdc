import type { OpenOptions, Sessions } from "../../session/sessions.ts";
import type { SessionRecord } from "../../store/session-index.ts";
import type { RetentionResult } from "../../store/store.ts";
import { localPrincipal } from "../local-principal.ts";
import { serveBridge, type ServedBridge, type ServeOptions } from "./serve-bridge.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export type { RetentionResult };

export interface UpOptions extends ServeOptions {
  /** Where it was started: the folder of a first session whose agent has none of its own. */
  readonly workingDirectory?: string;
}

export interface UpBridge extends Omit<ServedBridge, "sessions"> {
  /** Leads to the session, with the token of this directory: whoever has it may approve and control. */
  readonly link: string;
  readonly session: SessionRecord;
}

/** Runs or joins the sessions of a directory and serves them to browsers and programs. */
export async function runUp(options: UpOptions): Promise<UpBridge> {
  const { sessions, ...served } = await serveBridge(options, { portal: true });
  try {
    // An agent of a configuration works in that one's folder, where nothing else is said.
    const isDemo = served.config === undefined;
    const session = await findOrOpenSession(sessions, isDemo ? options : {});
    const link = `${served.url}/sessions/${session.sessionId}?token=${served.token}`;
    return { ...served, session, link };
  } catch (error) {
    await served.close();
    throw error;
  }
}

/** Whoever starts it again finds the session where it was. */
async function findOrOpenSession(
  sessions: Sessions,
  { workingDirectory }: Pick<OpenOptions, "workingDirectory">,
): Promise<SessionRecord> {
  const { id: principal } = localPrincipal;
  const { sessions: candidates } = await sessions.list({ limit: MAX_SESSIONS_CHECKED, principal });
  // One of an agent that is not there any more leads nowhere.
  const served = candidates.find(({ agent }) => sessions.agents.includes(agent));
  return (
    served ??
    sessions.open({
      principal: localPrincipal,
      title: "First session",
      ...omitUndefined({ workingDirectory }),
    })
  );
}

const MAX_SESSIONS_CHECKED = 100;
