import { withDeadline } from "./with-deadline.ts";

/** A place in which something waits until a test lets it go on. */
export interface Gate {
  /** Resolves when somebody is there. */
  readonly entry: Promise<void>;
  readonly open: () => void;
  /** Goes through, once it is open. */
  readonly pass: () => Promise<void>;
}

export function createGate(): Gate {
  let enter = (): void => {};
  let open = (): void => {};
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    get entry() {
      return withDeadline(entered, () => "nobody came to the gate");
    },
    open: () => open(),
    pass() {
      enter();
      return opened;
    },
  };
}
