import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { StoreError } from "../../../src/store/store-error.ts";
import type { Store } from "../../../src/store/store.ts";

export const DISK_FULL = new StoreError(
  "store_full",
  "/data/sessions.db cannot be written: the disk is full",
);

export interface FillingOptions {
  /** True: a probe needs less space than an append and succeeds on the full disk. Default: false. */
  readonly isProbeSmall?: boolean;
}

/** A store on a disk that the test can fill. */
export function createFillingStore({ isProbeSmall = false }: FillingOptions = {}) {
  const inner = createMemoryStore();
  let isFull = false;
  let refused = 0;
  const unlessFull = <Result>(write: () => Promise<Result>): Promise<Result> => {
    if (!isFull) return write();
    refused += 1;
    return Promise.reject(DISK_FULL);
  };
  const store: Store = {
    ...inner,
    append: (...args) => unlessFull(() => inner.append(...args)),
    acquire: (...args) => unlessFull(() => inner.acquire(...args)),
    renew: (...args) => unlessFull(() => inner.renew(...args)),
    release: (...args) => unlessFull(() => inner.release(...args)),
    saveSnapshot: (...args) => unlessFull(() => inner.saveSnapshot(...args)),
    probe: () => (isProbeSmall ? inner.probe() : unlessFull(() => inner.probe())),
  };
  return {
    store,
    get refused() {
      return refused;
    },
    fill: (full: boolean) => void (isFull = full),
  };
}
