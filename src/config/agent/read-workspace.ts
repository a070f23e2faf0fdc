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
  /**
   * The workspace folder, relative to the configuration. Undefined: the configuration's folder, and sessions may name
   * another.
   */
  readonly root?: string;
  /** Names of the enabled workspace tools. Default: all. */
  readonly tools?: readonly string[];
  /** Environment variables passed to commands. */
  readonly passEnvironment: readonly string[];
  /** Allows network access for commands in the sandbox. */
  readonly network: boolean;
  /** Refuses to start without a sandbox, instead of running unconfined commands. */
  readonly requireSandbox: boolean;
  /** Runs commands in terminals of the editor, if the editor offers terminals. */
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

/** `true` enables the workspace with all defaults. */
export const WORKSPACE_SCHEMA: Schema<WorkspaceConfig> = (value, path) =>
  OPTIONS(value === true ? {} : value, path);
