import type { InvocationLimits } from "../../providers/agentcore/invocation-limits.ts";
import { checkPositiveNumber, readOptions } from "../option-reader.ts";

const LIMIT_NAMES = ["connect", "firstEvent", "idle", "total"] as const;

/** How long a call may take: in seconds in a configuration, in milliseconds behind it. */
export function readLimits(
  value: unknown,
  path: string,
): Pick<InvocationLimits, (typeof LIMIT_NAMES)[number]> {
  const options = readOptions(
    value,
    path,
    LIMIT_NAMES.map((name) => `${name}Seconds`),
  );
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const seconds = options[`${name}Seconds`];
      checkPositiveNumber(seconds, `${path}.${name}Seconds`);
      return typeof seconds === "number" ? [[name, seconds * 1000] as const] : [];
    }),
  );
}
