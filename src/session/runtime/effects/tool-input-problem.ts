import type { JsonObject } from "../../../data/json.ts";
import { formatThrown } from "../../../domain/errors.ts";
import type { Tool } from "../../../tools/tool.ts";

/** Why a call cannot be run as it is, for the model; undefined when it can. A check that throws is no yes. */
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
