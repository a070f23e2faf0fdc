import type { OpenSession, Sessions } from "../session/sessions.ts";
import type { Retained, SessionRecord } from "../store/store.ts";
import { localPrincipal } from "./local-principal.ts";
import { serveBridge, type ServedBridge, type ServeOptions } from "./serve/serve-bridge.ts";

export type { Retained };

export interface UpOptions extends ServeOptions {
  /** Where it was started: the folder of a first session whose agent has none of its own. */
  readonly workingDirectory?: string;
}

export interface Up extends Omit<ServedBridge, "sessions"> {
  /** Leads to the session, with the token of this directory: whoever has it may approve and control. */
  readonly link: string;
  readonly session: SessionRecord;
}

/** Runs or joins the sessions of a directory and serves them to browsers and programs. */
export async function runUp(options: UpOptions): Promise<Up> {
  const { sessions, ...served } = await serveBridge(options, { portal: true });
  try {
    // An agent of a configuration works in that one's folder, where nothing else is said.
    const isDemo = served.config === undefined;
    const session = await latestSession(sessions, isDemo ? options : {});
    const link = `${served.url}/sessions/${session.sessionId}?token=${served.token}`;
    return { ...served, session, link };
  } catch (error) {
    await served.close();
    throw error;
  }
}

/** Whoever starts it again finds the session where it was. */
async function latestSession(
  sessions: Sessions,
  { workingDirectory }: Pick<OpenSession, "workingDirectory">,
): Promise<SessionRecord> {
  const { id: principal } = localPrincipal;
  const { sessions: found } = await sessions.list({ limit: MOST_LOOKED_AT, principal });
  // One of an agent that is not there any more leads nowhere.
  const served = found.find(({ agent }) => sessions.agents.includes(agent));
  return (
    served ??
    sessions.open({
      principal: localPrincipal,
      title: "First session",
      ...(workingDirectory !== undefined && { workingDirectory }),
    })
  );
}

const MOST_LOOKED_AT = 100;
