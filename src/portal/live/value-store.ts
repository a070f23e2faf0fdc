/** A value which changes over time, in the form of React's `useSyncExternalStore`. */
export interface ValueStore<Value> {
  readonly get: () => Value;
  /** Calls the listener after each change. Returns a function that ends the calls. */
  readonly subscribe: (listener: () => void) => () => void;
}

export interface WritableValueStore<Value> extends ValueStore<Value> {
  /** Whether a view shows the value. */
  readonly isObserved: () => boolean;
  readonly set: (value: Value) => void;
}

export function createValueStore<Value>(initial: Value): WritableValueStore<Value> {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    get: () => value,
    isObserved: () => listeners.size > 0,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
