import { checkType, readOptions, invalidOptionError } from "../option-reader.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import { WORKSPACE_TOOL_NAMES } from "../../tools/workspace/workspace-tools.ts";
import { readStringList } from "../string-list.ts";

export interface WorkspaceConfig {
  /** The folder for sessions that named none, from the folder of the configuration. */
  readonly root?: string;
  /** The tools that the agent has; all of them when absent. */
  readonly tools?: readonly string[];
  /** Variables that commands see. */
  readonly passEnvironment: readonly string[];
  /** Whether commands in a sandbox may reach the network. */
  readonly network: boolean;
  /** Refuses to start where there is no sandbox, rather than run commands that nothing confines. */
  readonly requireSandbox: boolean;
  /** Runs commands in a terminal of the editor, where it offers some. */
  readonly editorTerminals: boolean;
}

const OPTION_NAMES = [
  "root",
  "tools",
  "passEnvironment",
  "network",
  "requireSandbox",
  "editorTerminals",
];

/** `true` for all of it as it is. */
export function readWorkspace(value: unknown, path: string): WorkspaceConfig {
  const options = readOptions(value === true ? {} : value, path, OPTION_NAMES);
  const { root, tools, network, requireSandbox, editorTerminals } = options;
  checkType(root, `${path}.root`, "string");
  checkType(network, `${path}.network`, "boolean");
  checkType(requireSandbox, `${path}.requireSandbox`, "boolean");
  checkType(editorTerminals, `${path}.editorTerminals`, "boolean");
  return {
    passEnvironment: readStringList(options["passEnvironment"], `${path}.passEnvironment`),
    network: network === true,
    requireSandbox: requireSandbox === true,
    editorTerminals: editorTerminals === true,
    ...(typeof root === "string" && { root }),
    ...(tools !== undefined && { tools: readToolNames(tools, `${path}.tools`) }),
  };
}

function readToolNames(value: unknown, path: string): readonly string[] {
  const names = readStringList(value, path);
  const knownTools = WORKSPACE_TOOL_NAMES;
  for (const [at, name] of names.entries()) {
    if (knownTools.includes(name)) continue;
    const [near] = suggestNames(name, knownTools);
    const instead =
      near === undefined ? `there are ${knownTools.join(", ")}` : `did you mean ${near}?`;
    throw invalidOptionError(`${path}[${at}]`, `${path}[${at}] is "${name}"; ${instead}`);
  }
  return names;
}
