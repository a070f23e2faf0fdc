import type { LiveError } from "../../wire/live/live-frames.ts";
import type { ActionResult } from "../state/session-actions.ts";
import { createValueStore, type ValueStore } from "../live/value-store.ts";

/** An error of a command, shown while the error holds. */
export interface Toast {
  /** Names the command: a later success of the same command removes the toast. */
  readonly key: string;
  readonly text: string;
  readonly error: LiveError;
}

export interface Toasts {
  readonly store: ValueStore<readonly Toast[]>;
  /** Awaits a command. A failure becomes a toast, and a success removes the toast of an earlier failure. */
  watch<Value>(
    key: string,
    text: string,
    action: Promise<ActionResult<Value>>,
  ): Promise<ActionResult<Value>>;
  dismiss(key: string): void;
  /** Removes errors about an unreachable bridge. */
  dismissOutages(): void;
}

const MAX_TOASTS = 4;

export function createToasts(): Toasts {
  const store = createValueStore<readonly Toast[]>([]);
  const without = (key: string): readonly Toast[] => store.get().filter((one) => one.key !== key);
  const dismiss = (key: string): void => {
    if (store.get().some((toast) => toast.key === key)) store.set(without(key));
  };
  return {
    store,
    async watch(key, text, action) {
      const result = await action;
      if (result.ok) dismiss(key);
      else store.set([...without(key), { key, text, error: result.error }].slice(-MAX_TOASTS));
      return result;
    },
    dismiss,
    dismissOutages() {
      const remaining = store.get().filter(({ error }) => error.code !== "connect_failed");
      if (remaining.length !== store.get().length) store.set(remaining);
    },
  };
}
