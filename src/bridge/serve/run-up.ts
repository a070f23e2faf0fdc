import type { OpenOptions, Sessions } from "../../session/sessions.ts";
import type { SessionRecord } from "../../store/session-index.ts";
import type { RetentionResult } from "../../store/store.ts";
import { localPrincipal } from "../local-principal.ts";
import { serveBridge, type ServedBridge, type ServeOptions } from "./serve-bridge.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export type { RetentionResult };

export interface UpOptions extends ServeOptions {
  /** The folder where the command was started. Used for the first session if its agent has no folder. */
  readonly workingDirectory?: string;
}

export interface UpBridge extends Omit<ServedBridge, "sessions"> {
  /** URL of the session with the token of this directory. Anyone with the link may approve and control. */
  readonly link: string;
  readonly session: SessionRecord;
}

/** Runs or joins the sessions of a directory and serves them to browsers and programs. */
export async function runUp(options: UpOptions): Promise<UpBridge> {
  const { sessions, ...served } = await serveBridge(options, { portal: true });
  try {
    // An agent of a configuration works in the folder of the configuration by default.
    const isDemo = served.config === undefined;
    const session = await findOrOpenSession(sessions, isDemo ? options : {});
    const link = `${served.url}/sessions/${session.sessionId}?token=${served.token}`;
    return { ...served, session, link };
  } catch (error) {
    await served.close();
    throw error;
  }
}

/**
 * Returns the latest session, so a restarted `spanline up` continues there. Opens the first session of a new directory.
 */
async function findOrOpenSession(
  sessions: Sessions,
  { workingDirectory }: Pick<OpenOptions, "workingDirectory">,
): Promise<SessionRecord> {
  const { id: principal } = localPrincipal;
  const { sessions: candidates } = await sessions.list({
    limit: MAX_SESSIONS_CHECKED,
    parent: null,
    principal,
  });
  // Sessions of agents that no longer exist are skipped.
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
