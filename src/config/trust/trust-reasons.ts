import { isAbsolute } from "node:path";
import { isObject } from "../../data/json.ts";
import type { Matcher, Policy, PolicyLayer } from "../../domain/policy/policy.ts";
import { isLoopback } from "../../http/access/loopback.ts";
import type { AgentConfig } from "../read-config.ts";
import type { ServeConfig } from "../read-serve.ts";

/**
 * Returns why a configuration found in a folder needs trust: for example, the configuration could run code, send the
 * user's data elsewhere, or let an agent do more than read without asking. Undefined if no trust is needed.
 */
export function findTrustReason(config: AgentConfig): string | undefined {
  return TRUST_CHECKS.find((check) => check.applies(config))?.reason;
}

/** Returns why the `serve` section needs trust: its settings could give others access to the agents. */
export function findServeTrustReason(serve: ServeConfig): string | undefined {
  const { host = "127.0.0.1", keys, allowedHosts, allowedOrigins } = serve;
  const isOpen = !isLoopback(host) || allowedHosts.length > 0 || allowedOrigins.length > 0;
  const { push } = serve.a2a;
  const sendsPush = push !== undefined && push.enabled !== false;
  if (serve.webhooks.length > 0 || sendsPush)
    return "sends messages about your sessions to other servers";
  return isOpen || keys.length > 0 ? "lets others use your agents" : undefined;
}

interface TrustCheck {
  readonly reason: string;
  applies(config: AgentConfig): boolean;
}

const TRUST_CHECKS: readonly TrustCheck[] = [
  {
    reason: "runs code or programs",
    applies: ({ toolFiles, programs }) => toolFiles.length > 0 || programs.length > 0,
  },
  { reason: "names MCP servers", applies: ({ serverNames }) => serverNames.length > 0 },
  { reason: "sets variables", applies: ({ environment }) => environment.length > 0 },
  {
    reason: "sets the address of the agent",
    applies: ({ provider }) =>
      ("endpoint" in provider && provider.endpoint !== undefined) ||
      ("baseUrl" in provider && provider.baseUrl !== undefined),
  },
  {
    reason: "opens more than its own folder",
    applies: ({ workspace }) =>
      workspace !== undefined &&
      (workspace.passEnvironment.length > 0 || isOutside(workspace.root)),
  },
  {
    reason: "lets the agent do more than read without asking",
    applies: ({ policy, passthrough }) =>
      allowsMore(policy) || listsAllowMore(passthrough["approvals"]),
  },
];

function isOutside(root = "."): boolean {
  return isAbsolute(root) || root.split(/[/\\]/).includes("..");
}

function allowsMore(policy: Policy | undefined): boolean {
  return policy?.layers.every(layerAllowsMore) ?? false;
}

function layerAllowsMore(layer: PolicyLayer): boolean {
  if (layer.default === "allow" || layer.allowExternalPaths || layer.allowSensitivePaths)
    return true;
  if (layer.externalRoots.length > 0) return true;
  return layer.rules.some(({ action, match }) => action === "allow" && !isReadOnly(match));
}

/** Only exact tool names reveal the effects of a call; patterns could match any tool. */
function isReadOnly({ tool, path }: Matcher): boolean {
  if (path?.some((pattern) => isOutside(pattern)) === true) return false;
  return tool !== undefined && tool.every((name) => READ_ONLY_TOOLS.has(name));
}

function listsAllowMore(approvals: unknown): boolean {
  if (!isObject(approvals)) return false;
  const { allow, default: defaultAction } = approvals;
  const names: readonly unknown[] = Array.isArray(allow) ? allow : [];
  return defaultAction === "allow" || names.some((name) => !READ_ONLY_TOOLS.has(String(name)));
}

const READ_ONLY_TOOLS: ReadonlySet<string> = new Set([
  "read_file",
  "list_files",
  "search",
  "update_plan",
]);
