import { isAbsolute } from "node:path";
import { throwInvalid } from "../../data/schema-error.ts";
import { object, optional } from "../../data/schema-reader.ts";
import { createInvalidOptionError, readOptions } from "../../domain/option-reader.ts";
import { systemClock, type SteadyClock } from "../../platform/clock.ts";
import { examineToolCall } from "./examine-tool-call.ts";
import type { Tool, ToolContext } from "../tool.ts";
import type { Environment } from "../../platform/environment.ts";
import { findShells } from "../shells/find-shells.ts";
import { readThisMachine } from "../shells/machine-info.ts";
import { createEditFileTool } from "./edit-file-tool.ts";
import { createEditorGate } from "./editor/editor-gate.ts";
import type { Anchor } from "./files/folder.ts";
import { DEFAULT_WORKSPACE_LIMITS, type WorkspaceLimits } from "./workspace-limits.ts";
import { createListFilesTool } from "./list-files-tool.ts";
import { createReadFileTool } from "./read-file-tool.ts";
import { createRunCommandTool } from "./run-command-tool.ts";
import type { Sandbox } from "./sandbox/find-sandbox.ts";
import { createSearchTool } from "./search-tool.ts";
import type { FoundFile, WorkspaceOptions } from "./workspace.ts";
import type { WorkspaceToolContext } from "./create-workspace-tool.ts";
import { createUpdatePlanTool } from "../runtime/plan-tools.ts";
import { createWriteFileTool } from "./write-file-tool.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { isSecretName } from "../../text/is-secret-name.ts";

export interface WorkspaceToolsOptions {
  /** The workspace folder, or a function from a session to its folder. */
  readonly root: string | ((session: Pick<ToolContext, "workingDirectory">) => string);
  /** Paths which no tool may touch: the data directory, the configuration, the user's state. */
  readonly protectedFolders: readonly string[];
  readonly limits?: Partial<WorkspaceLimits>;
  /** Whether the policy allows reading a file found by a search. Default: every file. */
  readonly mayRead?: (file: FoundFile) => boolean;
  /** A sandbox from `findSandbox`. Undefined: commands are not confined, and their results say so. */
  readonly sandbox?: Sandbox;
  /** Variables passed to commands in addition to PATH, HOME, LANG, TERM and TMPDIR. */
  readonly passEnvironment?: readonly string[];
  readonly environment?: Environment;
  /** Runs commands in the terminal of the prompting editor, if it offers terminals. Default: false. */
  readonly editorTerminals?: boolean;
  readonly clock?: SteadyClock;
  readonly anchor?: Anchor;
}

/** The names of all workspace tools, in the order of `workspaceTools`. */
export const WORKSPACE_TOOL_NAMES: readonly string[] = [
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "search",
  "run_command",
  "update_plan",
];

/** Creates the tools listed in `WORKSPACE_TOOL_NAMES`. */
export function workspaceTools(options: WorkspaceToolsOptions): Tool[] {
  const { root, protectedFolders, sandbox, mayRead, anchor, clock = systemClock } = options;
  const { environment = process.env, passEnvironment = [] } = options;
  checkAddedNames(passEnvironment);
  const limits = resolveLimits(options.limits);
  if (typeof root === "string") checkRoot(root);
  const ground: WorkspaceToolContext = {
    clock,
    gate: createEditorGate(),
    resolveOptions(context): WorkspaceOptions {
      const folder = typeof root === "string" ? root : root(context);
      checkRoot(folder);
      return {
        root: folder,
        // With one fixed folder for all sessions, a session cannot add folders.
        folders: typeof root === "string" ? [] : (context.folders ?? []),
        protectedFolders,
        limits,
        ...omitUndefined({ mayRead, anchor }),
      };
    },
  };
  const tools = [
    createReadFileTool(ground),
    createWriteFileTool(ground),
    createEditFileTool(ground),
    createListFilesTool(ground),
    createSearchTool(ground),
    createRunCommandTool(ground, {
      sandbox,
      environment: createCommandEnvironment(environment, passEnvironment),
      commandMs: limits.commandMs,
      shells: memoize(() => findShells(readThisMachine(environment))),
      editorTerminals: options.editorTerminals ?? false,
    }),
    createUpdatePlanTool(),
  ];
  const examine: Tool["examine"] = (call) =>
    examineToolCall(call, ground.resolveOptions(call), ground.gate);
  return tools.map((tool) => ({ ...tool, examine }));
}

/** Calls `find` once and shares the promise. */
function memoize<Value>(find: () => Promise<Value>): () => Promise<Value> {
  let cached: Promise<Value> | undefined;
  return () => (cached ??= find());
}

function checkRoot(root: string): void {
  if (process.platform === "win32")
    throw createInvalidOptionError("root", "Workspace tools need POSIX paths");
  if (!isAbsolute(root))
    throw createInvalidOptionError(
      "root",
      `${root} is not an absolute path: a workspace must be absolute`,
    );
  if (/^\/+$/.test(root))
    throw createInvalidOptionError(
      "root",
      "The root folder / is not a valid workspace. Fix: name a folder",
    );
}

const LIMIT_OVERRIDES = object(
  Object.fromEntries(
    Object.keys(DEFAULT_WORKSPACE_LIMITS).map((name) => [name, optional(readLimit)]),
  ),
);

/** Infinity is valid: there is no limit. */
function readLimit(value: unknown, path: string): number {
  return typeof value === "number" && value >= 1
    ? value
    : throwInvalid({ path, value, expected: "a number, at least 1" });
}

function resolveLimits(overrides: Partial<WorkspaceLimits> = {}): WorkspaceLimits {
  return { ...DEFAULT_WORKSPACE_LIMITS, ...readOptions(LIMIT_OVERRIDES, overrides, "limits") };
}

/** The environment of commands: a few inherited variables, and those added by the configuration. */
function createCommandEnvironment(
  environment: Environment,
  added: readonly string[],
): { readonly [name: string]: string } {
  const names = [...INHERITED_VARIABLES, ...added];
  const variables = names.flatMap((name) => {
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    return value === undefined || URL_WITH_PASSWORD.test(value) ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...DEFAULTS, ...variables]);
}

/** Throws `invalid_option` for an invalid variable name, and for the name of a credential. */
function checkAddedNames(added: readonly string[]): void {
  for (const name of added) {
    const problem = !/^[a-z_][a-z0-9_]*$/i.test(name)
      ? "is not a valid variable name"
      : isCredential(name)
        ? "looks like a credential, which is never passed to commands"
        : undefined;
    if (problem === undefined) continue;
    const details = { path: "passEnvironment" };
    throw new SpanlineError("invalid_option", `${JSON.stringify(name)} ${problem}`, { details });
  }
}

const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"];

const DEFAULTS = [
  ["PATH", "/usr/local/bin:/usr/bin:/bin"],
  ["LANG", "C.UTF-8"],
  ["TERM", "dumb"],
  // A bash without `SHLVL` whose input is a socket assumes a remote login and reads the user's startup files.
  ["SHLVL", "1"],
] as const;

function isCredential(name: string): boolean {
  return isSecretName(name) || /^AWS_(?!(?:DEFAULT_)?REGION$)|^SPANLINE_/i.test(name);
}

/** For example a proxy URL with a password. */
const URL_WITH_PASSWORD = /:\/\/[^/\s@]*:[^/\s@]*@/;
