import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { GrantScope } from "../../../domain/events/approval-events.ts";
import { pluralize } from "../../../text/pluralize.ts";
import type { LiveClient } from "../../../domain/live-client.ts";
import type { PolicyAction } from "../../../domain/policy/policy-decision.ts";
import {
  MODE_DESCRIPTIONS,
  SESSION_MODES,
  type SessionMode,
} from "../../../domain/session-mode.ts";
import type { ToolRule } from "../../../domain/tools/tool-rule.ts";
import type { Usage } from "../../../domain/usage.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

export interface StatusDetails {
  readonly sessionId: string;
  readonly state: string;
  readonly workingDirectory: string | null;
  readonly agent: AgentSpec;
  readonly mode: SessionMode;
  readonly usage: Usage | null;
  readonly clients: readonly LiveClient[];
}

/** Formats the output of `/status`. All these texts are Markdown. */
export function formatStatus(status: StatusDetails): string {
  const { sessionId, state, workingDirectory, agent, mode, usage, clients } = status;
  return formatList([
    `Session: ${formatCode(sessionId)}, ${state}`,
    ...(workingDirectory === null ? [] : [`Folder: ${formatCode(workingDirectory)}`]),
    `Agent: ${formatCode(agent.name)} by ${stripMarkdown(agent.provider.name)}, ${pluralize(agent.tools.length, "tool")}`,
    `Mode: ${formatMode(mode)}`,
    `Tokens: ${usage === null ? "not known yet" : formatUsage(usage, state)}`,
    `Clients: ${clients.map(formatClient).join(", ") || "none"}`,
  ]);
}

function formatUsage({ inputTokens, outputTokens, totalTokens }: Usage, state: string): string {
  const but = state === "idle" ? "" : ", without the current turn";
  return `${inputTokens} input, ${outputTokens} output, ${totalTokens} total${but}`;
}

function formatClient({ name, clientId, role }: LiveClient): string {
  return `${stripMarkdown(name === "" ? clientId : name)} (${role})`;
}

/** Formats the output of `/tools`. */
export function formatTools(rules: readonly ToolRule[]): string {
  if (rules.length === 0) return "The agent has no tools that run here.";
  return formatList(
    rules.map(({ name, description, action, dependsOnArguments }) => {
      const [sentence = ""] = stripMarkdown(description).split(/(?<=\.)\s/);
      const also = dependsOnArguments ? "; its arguments may change this" : "";
      return `${formatCode(name)} is ${ACTION_TEXTS[action]}${also}. ${shorten(sentence)}`.trimEnd();
    }),
  );
}

const ACTION_TEXTS: { readonly [Action in PolicyAction]: string } = {
  allow: "allowed",
  ask: "subject to approval",
  deny: "denied",
};

/** Formats the output of `/mode`. */
export function formatModes(mode: SessionMode): string {
  const lines = SESSION_MODES.map(
    (item) => `${formatCode(item)}: ${MODE_DESCRIPTIONS[item].description}`,
  );
  return `The mode is ${formatCode(mode)}. Change it with ${formatCode("/mode ID")}:\n\n${formatList(lines)}`;
}

export function formatModeChange(mode: SessionMode): string {
  return `The mode is now ${formatMode(mode)}.`;
}

export function formatUnknownMode(input: string): string {
  const message = formatUnknownName("Mode", input, { names: SESSION_MODES });
  return `${message}${message.endsWith("?") ? "" : "."}`;
}

function formatMode(mode: SessionMode): string {
  return `${formatCode(mode)} (${MODE_DESCRIPTIONS[mode].description})`;
}

export interface GrantDetails {
  readonly grantId: string;
  readonly scope: GrantScope;
}

/** Formats the output of `/permissions`. */
export function formatPermissions(grants: readonly GrantDetails[]): string {
  if (grants.length === 0) return "No tool is always allowed in this session.";
  const lines = grants.map(({ grantId, scope }) => `${formatCode(grantId)}: ${formatScope(scope)}`);
  return `Always allowed in this session; revoke a grant with ${formatCode("/permissions revoke ID")}:\n\n${formatList(lines)}`;
}

export function formatRevokedGrant(grantId: string): string {
  return `${formatCode(grantId)} is revoked: its tool calls need approval again.`;
}

export function formatCompactionStart(): string {
  return "The conversation will be compacted before the next request to the model.";
}

export function formatPermissionsUsage(input: string): string {
  return `${formatCode(input)} is not a valid argument: expected ${formatCode("/permissions")} or ${formatCode("/permissions revoke ID")}.`;
}

function formatScope({ tool, command, digest, paths, rule }: GrantScope): string {
  if (command !== undefined) return `${formatCode(tool)} with ${formatCode(command)}`;
  if (digest !== undefined) return `${formatCode(tool)} with exactly the approved arguments`;
  if (paths !== undefined) {
    return `${formatCode(tool)} of ${paths.map(({ hostPath }) => formatCode(hostPath ?? "")).join(", ")}`;
  }
  const by =
    rule === null ? "" : ` wherever ${formatCode(rule.id ?? `${rule.source}[${rule.index}]`)} asks`;
  return `${formatCode(tool)}${by}`;
}

function formatList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/**
 * Formats text as inline code. Names come from outside: backticks are replaced, because a name must not end the code
 * span.
 */
function formatCode(text: string): string {
  return `\`${shorten(stripMarkdown(text)).replaceAll("`", "'")}\``;
}

function stripMarkdown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
}

const MAX_TEXT_LENGTH = 200;
