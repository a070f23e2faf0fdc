import { createContext, Script, type Context } from "node:vm";

/** The work exceeded its time limit. */
export class TimeLimitError extends Error {
  constructor(milliseconds: number) {
    super(`The time limit of ${milliseconds} ms was exceeded`);
    this.name = "TimeLimitError";
  }
}

/**
 * Runs synchronous work and stops it when the time limit is exceeded. Protects against untrusted regular expressions
 * and schemas, which may take forever. Side effects made before the stop remain. Costs one millisecond per call.
 */
export function runWithTimeLimit<Value>(milliseconds: number, work: () => Value): Value {
  const result: { value?: Value } = {};
  context ??= createContext({});
  script ??= new Script("work()");
  context["work"] = (): void => {
    result.value = work();
  };
  try {
    script.runInContext(context, { timeout: milliseconds });
  } catch (error) {
    // The error belongs to another context, so `instanceof` does not work.
    const { code } = Object(error);
    throw code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? new TimeLimitError(milliseconds) : error;
  } finally {
    context["work"] = undefined;
  }
  return result.value as Value;
}

let context: Context | undefined;
let script: Script | undefined;
