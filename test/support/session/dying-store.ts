import { SpanlineError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/store/store.ts";

export type Kill = { readonly write: number; readonly when: "before" | "after" };

/** The store as seen by a process which dies at a write: before the write, or after the write and before its result. */
export function createDyingStore(store: Store, kill: Kill | undefined) {
  let writes = 0;
  let isDead = false;
  let announce = (): void => {};
  const death = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const die = (): void => {
    isDead = true;
    announce();
  };
  const check = (): void => {
    if (isDead) throw new SpanlineError("store_closed", "The process was killed");
  };
  const guarded = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || name === "subscribe") return value;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        const isWrite = name === "append" || name === "putRecord";
        if (isWrite) writes += 1;
        const isLast = isWrite && writes === kill?.write;
        if (isLast && kill.when === "before") die();
        check();
        const done: unknown = await Reflect.apply(value, target, given);
        if (isLast) die();
        check();
        return done;
      };
    },
  });
  return { store: guarded, countWrites: () => writes, death };
}
