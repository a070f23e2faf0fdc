import type { JsonObject } from "../../../data/json.ts";
import { formatThrown } from "../../../domain/errors.ts";
import type { Tool } from "../../../tools/tool.ts";

/** Returns why a call cannot run, for the model. Undefined if it can. A check which throws refuses the call. */
export function findToolInputProblem(tool: Tool, input: JsonObject): string | undefined {
  const { name } = tool.spec;
  try {
    const problem = tool.check(input);
    if (problem === undefined) return undefined;
    return `${name} was not run: its arguments are wrong. ${problem}`;
  } catch (error) {
    return `${name} was not run: its arguments could not be checked. ${formatThrown(error)}`;
  }
}
