import { isAbsolute } from "node:path";
import { isObject } from "../../domain/json.ts";
import type { Matcher, Policy, PolicyLayer } from "../../domain/policy.ts";
import { isLoopback } from "../../http/loopback.ts";
import type { AgentConfig } from "./read-config.ts";
import type { ServeConfig } from "./read-serve.ts";

/**
 * What a configuration that came with a folder could do to whoever merely starts in it: run code, send away what is
 * theirs, or let an agent do more than read without a question. Undefined where it could do nothing of it.
 */
export function needsTrust(config: AgentConfig): string | undefined {
  return CHECKS.find((check) => check.isSo(config))?.what;
}

/** The same of how its agents are served: to whom, and from where. */
export function servingNeedsTrust(serve: ServeConfig): string | undefined {
  const { host = "127.0.0.1", keys, allowedHosts, allowedOrigins } = serve;
  const isOpen = !isLoopback(host) || allowedHosts.length > 0 || allowedOrigins.length > 0;
  return isOpen || keys.length > 0 ? "lets others use your agents" : undefined;
}

interface Check {
  readonly what: string;
  isSo(config: AgentConfig): boolean;
}

const CHECKS: readonly Check[] = [
  {
    what: "names code or programs that would be run",
    isSo: ({ toolFiles, programs }) => toolFiles.length > 0 || programs.length > 0,
  },
  { what: "names MCP servers", isSo: ({ serverNames }) => serverNames.length > 0 },
  { what: "sets variables", isSo: ({ environment }) => environment.length > 0 },
  {
    what: "says where the agent is reached",
    isSo: ({ provider }) => "endpoint" in provider && provider.endpoint !== undefined,
  },
  {
    what: "opens more than its own folder",
    isSo: ({ workspace }) =>
      workspace !== undefined &&
      (workspace.passEnvironment.length > 0 || isElsewhere(workspace.root)),
  },
  {
    what: "lets the agent do more than read without asking",
    isSo: ({ policy, rest }) => allowsMore(policy) || listsAllowMore(rest["approvals"]),
  },
];

function isElsewhere(root = "."): boolean {
  return isAbsolute(root) || root.split(/[/\\]/).includes("..");
}

function allowsMore(policy: Policy | undefined): boolean {
  return policy?.layers.every(layerAllowsMore) ?? false;
}

function layerAllowsMore(layer: PolicyLayer): boolean {
  if (layer.default === "allow" || layer.allowExternalPaths || layer.allowSensitivePaths)
    return true;
  if (layer.externalRoots.length > 0) return true;
  return layer.rules.some(({ action, match }) => action === "allow" && !isReading(match));
}

/** Names of tools alone say what a call does; of patterns nobody knows. */
function isReading({ tool, path }: Matcher): boolean {
  if (path?.some((pattern) => isElsewhere(pattern)) === true) return false;
  return tool !== undefined && tool.every((name) => READERS.has(name));
}

function listsAllowMore(approvals: unknown): boolean {
  if (!isObject(approvals)) return false;
  const { allow, otherwise } = approvals;
  const names: readonly unknown[] = Array.isArray(allow) ? allow : [];
  return otherwise === "allow" || names.some((name) => !READERS.has(String(name)));
}

const READERS: ReadonlySet<string> = new Set(["read_file", "list_files", "search", "update_plan"]);
