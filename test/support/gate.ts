import { within } from "./within.ts";

/** A place in which something waits until a test lets it go on. */
export interface Gate {
  /** Resolves when somebody is there. */
  readonly entered: Promise<void>;
  readonly open: () => void;
  /** Goes through, once it is open. */
  readonly pass: () => Promise<void>;
}

export function gate(): Gate {
  let enter = (): void => {};
  let open = (): void => {};
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    get entered() {
      return within(entered, () => "nobody came to the gate");
    },
    open: () => open(),
    pass() {
      enter();
      return opened;
    },
  };
}
