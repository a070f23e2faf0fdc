import type { SessionIndex } from "../../store/session-index.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ResumeOptions {
  readonly store: Pick<SessionIndex, "listSessions">;
  /** Never rejects: one that cannot be taken up keeps none of the others from it. */
  readonly resume: (sessionId: string) => Promise<void>;
  readonly isOver: () => boolean;
}

/** Takes up every session that was left in the middle of something: several at a time, in no order. */
export async function resumeInterruptedSessions({
  store,
  resume,
  isOver,
}: ResumeOptions): Promise<void> {
  let page: string | undefined;
  do {
    const found = await store.listSessions({ limit: 100, ...omitUndefined({ page }) });
    const remaining = found.sessions.filter(({ state }) => state !== "idle");
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

/** An agent may have servers of its own to start for each. */
const MAX_PARALLEL = 8;
