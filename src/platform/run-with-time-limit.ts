import { createContext, Script, type Context } from "node:vm";

/** Work took longer than it may. */
export class TimeLimitError extends Error {
  constructor(milliseconds: number) {
    super(`It takes longer than ${milliseconds} ms`);
    this.name = "TimeLimitError";
  }
}

/**
 * Does work that never waits, and stops it in the middle when it takes too long: a regular expression or a schema that
 * somebody else wrote may take for ever. What the work had changed by then stays changed. Costs a millisecond.
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
    // It is an error of the other context, so no instance of ours.
    const { code } = Object(error);
    throw code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? new TimeLimitError(milliseconds) : error;
  } finally {
    context["work"] = undefined;
  }
  return result.value as Value;
}

let context: Context | undefined;
let script: Script | undefined;
