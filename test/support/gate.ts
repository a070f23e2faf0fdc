import { withDeadline } from "./with-deadline.ts";

/** A gate that blocks code until the test opens it. */
export interface Gate {
  /** Resolves when code is waiting at the gate. */
  readonly entry: Promise<void>;
  readonly open: () => void;
  /** Waits until the gate is open. */
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
      return withDeadline(entered, () => "no code reached the gate");
    },
    open: () => open(),
    pass() {
      enter();
      return opened;
    },
  };
}
