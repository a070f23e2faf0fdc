import { resolve } from "node:path";
import type { WorkspaceDefinition } from "../../config/agent/agent-definition.ts";
import type { WorkspaceConfig } from "../../config/agent/read-workspace.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { MutationScope } from "../../domain/agent-spec.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { isFolder } from "../../platform/files/is-folder.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import type { Tool } from "../../tools/tool.ts";
import { findSandbox, type Sandbox } from "../../tools/workspace/sandbox/find-sandbox.ts";
import { workspaceTools } from "../../tools/workspace/workspace-tools.ts";
import type { FoundFile } from "../../tools/workspace/workspace.ts";
import type { ConfigContext } from "./config-context.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface WorkspaceContext extends ConfigContext {
  /** The folder of the configuration. */
  readonly folder: string;
  /** Decides which files the tools may read. */
  readonly policy: Policy;
}

export interface ConfiguredWorkspace {
  readonly definition: WorkspaceDefinition;
  readonly tools: readonly Tool[];
  /** Undefined without workspace tools. */
  readonly scope?: MutationScope;
}

/** Creates the workspace of an agent with its tools. */
export async function createWorkspace(
  config: WorkspaceConfig | undefined,
  context: WorkspaceContext,
): Promise<ConfiguredWorkspace> {
  const { folder, file, directory, environment, clock } = context;
  const root = resolve(folder, config?.root ?? ".");
  const protectedFolders = [file, directory, ...context.protectedFolders];
  const isFixed = config?.root !== undefined;
  const definition = { root, isFixed, protectedFolders };
  if (config === undefined) return { definition, tools: [] };
  if (isFixed && !(await isFolder(root))) {
    const message = `workspace.root is ${root}: no such folder`;
    throw new SpanlineError("invalid_option", message, { details: { path: "workspace.root" } });
  }
  const isEnabled = (name: string): boolean => config.tools?.includes(name) ?? true;
  const sandbox = isEnabled("run_command")
    ? await findWorkspaceSandbox(config, root, context)
    : undefined;
  const tools = workspaceTools({
    root: isFixed ? root : ({ workingDirectory }) => workingDirectory ?? root,
    protectedFolders,
    passEnvironment: config.passEnvironment,
    editorTerminals: config.editorTerminals,
    mayRead: createReadFilter(context.policy),
    environment,
    clock,
    ...omitUndefined({ sandbox }),
  }).filter(({ spec }) => isEnabled(spec.name));
  const isReading = tools.every(({ spec: facts }) =>
    READ_ONLY_EFFECTS.has(facts.traits?.sideEffect ?? ""),
  );
  return { definition, tools, scope: isReading ? "read_only" : "apply_workspace" };
}

const READ_ONLY_EFFECTS: ReadonlySet<string> = new Set(["none", "read_only"]);

async function findWorkspaceSandbox(
  { network, requireSandbox }: WorkspaceConfig,
  root: string,
  { environment, notice, commandNotice = notice }: WorkspaceContext,
): Promise<Sandbox | undefined> {
  const search = { path: environment["PATH"] ?? "", workspaces: [root], network };
  const { sandbox, reason } = await findSandbox(search);
  if (sandbox !== undefined) return sandbox;
  if (!requireSandbox) {
    commandNotice(`Commands are not confined (${reason}): they run with all your rights`);
    return undefined;
  }
  const message = `workspace.requireSandbox is set, but no sandbox is available: ${reason}`;
  throw new SpanlineError("invalid_option", message, {
    details: { path: "workspace.requireSandbox" },
  });
}

/**
 * Returns a filter for files not named by a tool call, such as the files found by a search. The filter is true if the
 * policy allows reading.
 */
export function createReadFilter(policy: Policy): (file: FoundFile) => boolean {
  return ({ workspacePath, hostPath }) => {
    const location = workspacePath === null ? "outside" : "inside";
    const path = workspacePath ?? hostPath;
    const context = {
      tool: "read_file",
      kind: "read",
      sideEffect: "read_only",
      capabilities: ["workspace.read_text"],
      paths: [{ argument: "path", input: path, location, workspacePath, hostPath }],
      repeats: 0,
    } as const;
    return evaluatePolicy(policy, context, { path }).action !== "deny";
  };
}
