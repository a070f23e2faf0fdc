import type { SessionIndex, SessionRecord } from "../../store/session-index.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ResumeOptions {
  readonly store: Pick<SessionIndex, "listSessions">;
  /** Never rejects: a failing session must not block the others. */
  readonly resume: (sessionId: string) => Promise<void>;
  readonly isOver: () => boolean;
}

/** Resumes every session interrupted in the middle of work or with a pending deadline, several in parallel, in any order. */
export async function resumeInterruptedSessions({
  store,
  resume,
  isOver,
}: ResumeOptions): Promise<void> {
  let page: string | undefined;
  do {
    const found = await store.listSessions({ limit: 100, ...omitUndefined({ page }) });
    const remaining = found.sessions.filter(hasOpenWork);
    const next = remaining.values();
    const resumeNext = async (): Promise<void> => {
      for (const { sessionId } of next) {
        if (isOver()) return;
        await resume(sessionId);
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL }, resumeNext));
    page = found.nextPage;
  } while (page !== undefined && !isOver());
}

/** Limits concurrent starts: an agent may start MCP servers per session. */
const MAX_PARALLEL = 8;

/** Whether a session must be in memory: a turn is running, or a deadline is pending. */
export function hasOpenWork({ state, wakeAt }: Pick<SessionRecord, "state" | "wakeAt">): boolean {
  return state !== "idle" || wakeAt !== null;
}
