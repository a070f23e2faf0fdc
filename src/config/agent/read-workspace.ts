import {
  array,
  boolean,
  object,
  oneOf,
  optional,
  string,
  withDefault,
  type Schema,
} from "../../data/schema-reader.ts";
import { WORKSPACE_TOOL_NAMES } from "../../tools/workspace/workspace-tools.ts";

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

const FLAG = withDefault(boolean(), false);

const OPTIONS: Schema<WorkspaceConfig> = object({
  root: optional(string()),
  tools: optional(array(oneOf(WORKSPACE_TOOL_NAMES))),
  passEnvironment: withDefault(array(string()), []),
  network: FLAG,
  requireSandbox: FLAG,
  editorTerminals: FLAG,
});

/** `true` for all defaults. */
export const WORKSPACE_SCHEMA: Schema<WorkspaceConfig> = (value, path) =>
  OPTIONS(value === true ? {} : value, path);
