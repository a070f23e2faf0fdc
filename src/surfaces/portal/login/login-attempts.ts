import { BoundedCache } from "../../../data/bounded-cache.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import type { Clock } from "../../../platform/clock.ts";

/** Limits failed logins, by the address of the client and in total. */
export interface LoginAttempts {
  /** Throws 429 if too many logins have failed. Called before the key is read. */
  check(address: string | undefined): void;
  countFailure(address: string | undefined): void;
}

const MAX_FAILURES = 10;
const MAX_TOTAL_FAILURES = 300;
const PERIOD_MS = 300_000;
const MAX_ADDRESSES = 10_000;
/** No client address has this form. */
const TOTAL = "total";

interface Failures {
  readonly count: number;
  /** Start of the period in which the failures are counted. */
  readonly since: number;
}

export function createLoginAttempts(clock: Clock): LoginAttempts {
  const failures = new BoundedCache<Failures>(MAX_ADDRESSES);
  const read = (name: string): Failures => {
    const known = failures.get(name);
    const now = clock.now();
    const isCurrent = known !== undefined && now - known.since < PERIOD_MS && now >= known.since;
    return isCurrent ? known : { count: 0, since: now };
  };
  const count = (name: string): void => {
    const { count: before, since } = read(name);
    failures.set(name, { count: before + 1, since }, 1);
  };
  const isOver = (address = "unknown"): boolean =>
    read(address).count >= MAX_FAILURES || read(TOTAL).count >= MAX_TOTAL_FAILURES;
  return {
    check(address) {
      if (!isOver(address)) return;
      throw new ApiError(429, "throttled", "Too many failed logins", {
        hint: "Try again in 5 minutes",
        headers: { "retry-after": String(PERIOD_MS / 1000) },
      });
    },
    countFailure(address = "unknown") {
      count(address);
      count(TOTAL);
    },
  };
}
