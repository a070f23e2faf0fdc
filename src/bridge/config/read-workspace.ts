import { checkKind, optionsAt, wrongOption } from "../check-options.ts";
import { nearNames } from "../../domain/near-names.ts";
import { WORKSPACE_TOOL_NAMES } from "../../tools/workspace/workspace-tools.ts";
import { textsAt } from "./texts-at.ts";

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

const NAMES = ["root", "tools", "passEnvironment", "network", "requireSandbox", "editorTerminals"];

/** `true` for all of it as it is. */
export function readWorkspace(value: unknown, path: string): WorkspaceConfig {
  const given = optionsAt(value === true ? {} : value, path, NAMES);
  const { root, tools, network, requireSandbox, editorTerminals } = given;
  checkKind(root, `${path}.root`, "string");
  checkKind(network, `${path}.network`, "boolean");
  checkKind(requireSandbox, `${path}.requireSandbox`, "boolean");
  checkKind(editorTerminals, `${path}.editorTerminals`, "boolean");
  return {
    passEnvironment: textsAt(given["passEnvironment"], `${path}.passEnvironment`),
    network: network === true,
    requireSandbox: requireSandbox === true,
    editorTerminals: editorTerminals === true,
    ...(typeof root === "string" && { root }),
    ...(tools !== undefined && { tools: toolsAt(tools, `${path}.tools`) }),
  };
}

function toolsAt(value: unknown, path: string): readonly string[] {
  const names = textsAt(value, path);
  const known = WORKSPACE_TOOL_NAMES;
  for (const [at, name] of names.entries()) {
    if (known.includes(name)) continue;
    const [near] = nearNames(name, known);
    const instead = near === undefined ? `there are ${known.join(", ")}` : `did you mean ${near}?`;
    throw wrongOption(`${path}[${at}]`, `${path}[${at}] is "${name}"; ${instead}`);
  }
  return names;
}
