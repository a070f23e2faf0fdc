import type { HarnessTool } from "./harness-request.ts";

interface ToolSettings {
  readonly tools: readonly HarnessTool[];
  readonly allowedTools: readonly string[];
}

/**
 * The deployed tools with ours added. An invocation that names any tools replaces all of the deployed ones, so whoever
 * adds one has to send the rest as well. Of two tools with one name, ours stands. A list of allowed tools that is not
 * open to all is widened by ours.
 */
export function mergeTools(
  deployed: ToolSettings,
  addedTools: readonly HarnessTool[],
): ToolSettings {
  const names = new Set(addedTools.flatMap(({ name }) => name ?? []));
  const remainingTools = deployed.tools.filter(
    ({ name }) => name === undefined || !names.has(name),
  );
  const allowed = deployed.allowedTools;
  const missing = [...names].filter((name) => !allowed.includes(name));
  return {
    tools: [...remainingTools, ...addedTools],
    // An empty list allows everything, as does a star.
    allowedTools:
      allowed.length === 0 || allowed.includes("*") ? allowed : [...allowed, ...missing],
  };
}

/**
 * Those of the `wanted` tools that are allowed anyway: nobody gets more by asking for less. An empty list would allow
 * everything, so that none is said with a name that no tool has.
 */
export function narrowTools(
  allowed: readonly string[],
  requested: readonly string[],
): readonly string[] {
  const isOpen = allowed.length === 0 || allowed.includes("*");
  const isAllowed = (name: string): boolean =>
    isOpen || allowed.some((entry) => entry === name || name.startsWith(`${entry}/`));
  const allowedNames = requested.filter(isAllowed);
  return allowedNames.length === 0 ? [NO_TOOL] : allowedNames;
}

const NO_TOOL = "@none/none";
