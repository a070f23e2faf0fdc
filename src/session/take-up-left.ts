import type { Store } from "../store/store.ts";

export interface TakeUpOptions {
  readonly store: Pick<Store, "sessions">;
  /** Never rejects: one that cannot be taken up keeps none of the others from it. */
  readonly takeUp: (sessionId: string) => Promise<void>;
  readonly isOver: () => boolean;
}

/** Takes up every session that was left in the middle of something: several at a time, in no order. */
export async function takeUpLeft({ store, takeUp, isOver }: TakeUpOptions): Promise<void> {
  let page: string | undefined;
  do {
    const found = await store.sessions({ limit: 100, ...(page !== undefined && { page }) });
    const left = found.sessions.filter(({ state }) => state !== "idle");
    const next = left.values();
    const takeOneByOne = async (): Promise<void> => {
      for (const { sessionId } of next) {
        if (isOver()) return;
        await takeUp(sessionId);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, takeOneByOne));
    page = found.nextPage;
  } while (page !== undefined && !isOver());
}

/** An agent may have servers of its own to start for each. */
const AT_ONCE = 8;
