import type { CallLimits } from "../../providers/agentcore/limits.ts";
import { checkAmount, optionsAt } from "../check-options.ts";

const NAMES = ["connect", "firstEvent", "idle", "total"] as const;

/** How long a call may take: in seconds in a configuration, in milliseconds behind it. */
export function readLimits(value: unknown, path: string): Pick<CallLimits, (typeof NAMES)[number]> {
  const given = optionsAt(
    value,
    path,
    NAMES.map((name) => `${name}Seconds`),
  );
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const seconds = given[`${name}Seconds`];
      checkAmount(seconds, `${path}.${name}Seconds`);
      return typeof seconds === "number" ? [[name, seconds * 1000] as const] : [];
    }),
  );
}
