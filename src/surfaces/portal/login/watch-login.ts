import type { Clock } from "../../../platform/clock.ts";
import type { Logins } from "./logins.ts";

/** Watches the login of an open connection. */
export interface LoginWatch {
  /** Resolves when the login has ended: by a logout, its expiry, or the removal of its key. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** Milliseconds. A logout in this process is noticed at once. */
const CHECK_INTERVAL_MS = 60_000;

export function watchLogin(secret: string, logins: Logins, clock: Clock): LoginWatch {
  let stop = (): void => {};
  const ended = new Promise<void>((resolve) => {
    const stopLogout = logins.watchLogout(secret, resolve);
    let cancel = (): void => {};
    const check = async (): Promise<void> => {
      // A store that cannot be read does not end the login.
      const isValid = await logins.findLogin(secret).then(
        (caller) => caller !== undefined,
        () => true,
      );
      if (isValid) schedule();
      else resolve();
    };
    const schedule = (): void => {
      cancel = clock.schedule(CHECK_INTERVAL_MS, () => void check());
    };
    schedule();
    stop = () => {
      stopLogout();
      cancel();
    };
  });
  return { ended, stop: () => stop() };
}
