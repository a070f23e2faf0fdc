import type { AgentFacts, GrantScope } from "../../domain/agent-event.ts";
import { counted } from "../../domain/counted.ts";
import type { LiveClient } from "../../domain/live-client.ts";
import type { PolicyAction } from "../../domain/policy-decision.ts";
import { MODE_WORDS, SESSION_MODES, type SessionMode } from "../../domain/session-mode.ts";
import type { ToolRule } from "../../domain/tool-rule.ts";
import type { Usage } from "../../domain/usage.ts";

export interface ShownStatus {
  readonly sessionId: string;
  readonly state: string;
  readonly workingDirectory: string | null;
  readonly agent: AgentFacts;
  readonly mode: SessionMode;
  readonly usage: Usage | null;
  readonly clients: readonly LiveClient[];
}

/** The answer to `/status`: Markdown, as all of these are. */
export function statusText(status: ShownStatus): string {
  const { sessionId, state, workingDirectory, agent, mode, usage, clients } = status;
  return list([
    `Session: ${code(sessionId)}, ${state}`,
    ...(workingDirectory === null ? [] : [`Folder: ${code(workingDirectory)}`]),
    `Agent: ${code(agent.name)} by ${plain(agent.provider.name)}, ${counted(agent.tools.length, "tool")}`,
    `Mode: ${modeWords(mode)}`,
    `Tokens: ${usage === null ? "not known yet" : usageWords(usage, state)}`,
    `Clients: ${clients.map(clientWords).join(", ") || "none"}`,
  ]);
}

function usageWords({ inputTokens, outputTokens, totalTokens }: Usage, state: string): string {
  const but = state === "idle" ? "" : ", without the turn that runs";
  return `${inputTokens} in and ${outputTokens} out, ${totalTokens} together${but}`;
}

function clientWords({ name, clientId, mode }: LiveClient): string {
  return `${plain(name === "" ? clientId : name)} (${mode})`;
}

/** The answer to `/tools`. */
export function toolsText(rules: readonly ToolRule[]): string {
  if (rules.length === 0) return "The agent has no tools that run here.";
  return list(
    rules.map(({ name, description, action, isOpen }) => {
      const [sentence = ""] = plain(description).split(/(?<=\.)\s/);
      const also = isOpen ? ", or else by its arguments" : "";
      return `${code(name)} is ${SAYS[action]}${also}. ${shortened(sentence)}`.trimEnd();
    }),
  );
}

const SAYS: { readonly [Action in PolicyAction]: string } = {
  allow: "allowed",
  ask: "asked about",
  deny: "denied",
};

/** The answer to `/mode`. */
export function modesText(mode: SessionMode): string {
  const lines = SESSION_MODES.map((one) => `${code(one)}: ${MODE_WORDS[one].description}`);
  return `The mode is ${code(mode)}. Change it by ${code("/mode ID")}:\n\n${list(lines)}`;
}

export function modeSetText(mode: SessionMode): string {
  return `The mode is now ${modeWords(mode)}.`;
}

export function noModeText(given: string): string {
  return `There is no mode ${code(given)}; there is: ${SESSION_MODES.map(code).join(", ")}.`;
}

function modeWords(mode: SessionMode): string {
  return `${code(mode)} (${MODE_WORDS[mode].description})`;
}

export interface ShownGrant {
  readonly grantId: string;
  readonly scope: GrantScope;
}

/** The answer to `/permissions`. */
export function permissionsText(grants: readonly ShownGrant[]): string {
  if (grants.length === 0) return "Nothing is allowed for good in this session.";
  const lines = grants.map(({ grantId, scope }) => `${code(grantId)}: ${scopeWords(scope)}`);
  return `Allowed for good in this session; take one back by ${code("/permissions revoke ID")}:\n\n${list(lines)}`;
}

export function revokedText(grantId: string): string {
  return `${code(grantId)} is taken back: what it allowed is asked about again.`;
}

export function noPermissionsText(given: string): string {
  return `${code(given)} is not understood; say ${code("/permissions")} or ${code("/permissions revoke ID")}.`;
}

function scopeWords({ tool, command, digest, paths, rule }: GrantScope): string {
  if (command !== undefined) return `${code(tool)} with ${code(command)}`;
  if (digest !== undefined) return `${code(tool)} with just the arguments that were shown`;
  if (paths !== undefined) {
    return `${code(tool)} of ${paths.map(({ hostPath }) => code(hostPath ?? "")).join(", ")}`;
  }
  const by =
    rule === null ? "" : ` wherever ${code(rule.id ?? `${rule.source}[${rule.index}]`)} asks`;
  return `${code(tool)}${by}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** Names are anybody's: none of them ends what it stands in. */
function code(text: string): string {
  return `\`${shortened(plain(text)).replaceAll("`", "'")}\``;
}

function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

const LONGEST = 200;
