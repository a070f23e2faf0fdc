import {
  formatPathTarget,
  type MatchedRule,
  type PathFact,
  type PolicyContext,
  type PolicyDecision,
} from "../domain/policy/policy-decision.ts";
import { MODE_SOURCE } from "../domain/session-mode.ts";
import { joinWords } from "./command/join-words.ts";
import { HOLE } from "./matching/wildcard.ts";

/** Explains a decision to people, one fact per line. */
export function explainDecision(decision: PolicyDecision): string[] {
  const { action, reason, rule, labels, context, approvers, approval } = decision;
  return [
    `${action}: ${sanitizeLine(reason)}`,
    `by: ${rule === null ? "the default" : formatRuleLocation(rule)}`,
    ...(rule === null ? [] : formatOverrides(rule)),
    ...(action === "ask" ? [`needs: ${formatApprovers(approvers)}`] : []),
    ...(approval?.prompt === undefined ? [] : [`prompt: ${sanitizeLine(approval.prompt)}`]),
    ...(approval?.risk === undefined ? [] : [`risk: ${sanitizeLine(approval.risk)}`]),
    `tool: ${sanitizeLine(context.tool)} (${context.kind}, ${context.sideEffect})`,
    ...formatFacts(context),
    ...(labels.length === 0 ? [] : [`labels: ${labels.join(", ")}`]),
  ];
}

/** Shown only to people: the model must not learn which setting lifts a refusal. */
function formatOverrides({ source }: MatchedRule): string[] {
  const key = OVERRIDE_SETTINGS.get(source);
  return key === undefined ? [] : [`allowed by setting: ${key}`];
}

const OVERRIDE_SETTINGS: ReadonlyMap<string, string> = new Map([
  ["default_sensitive_path", "allow_sensitive_paths"],
  ["default_external_path", "external_roots, allow_external_paths"],
]);

function formatApprovers(approvers: number): string {
  return approvers === 1 ? "approval by 1 person" : `approval by ${approvers} different people`;
}

function formatRuleLocation({ source, id, index, layer }: MatchedRule): string {
  const entry =
    SINGLE_ENTRY_SOURCES.has(source) || source.startsWith("default_")
      ? source
      : `${source}[${index}]`;
  const named = id === null ? entry : `${entry} ${sanitizeLine(id)}`;
  return layer === undefined ? named : `${named} of policy ${layer + 1}`;
}

/** Sources with a single entry, printed without an index. */
const SINGLE_ENTRY_SOURCES = new Set([
  "write_path_allowlist",
  "repeat_limit",
  "policy",
  MODE_SOURCE,
]);

function formatFacts(context: PolicyContext): string[] {
  const { paths, simpleCommands = [], urls = [], method, mcpServer, mcpTool, repeats } = context;
  return [
    ...paths.map((fact) => `path: ${formatPath(fact)}`),
    ...simpleCommands.map(({ words }) => `runs: ${sanitizeLine(joinWords(words))}`),
    ...(context.commandUnparsed === undefined
      ? []
      : [`uncertain: ${sanitizeLine(context.commandUnparsed)}`]),
    ...urls.map(
      (url) =>
        `address: ${method === undefined ? "" : `${sanitizeLine(method)} `}${sanitizeLine(url)}`,
    ),
    ...(mcpServer === undefined
      ? []
      : [`MCP: ${sanitizeLine(mcpTool ?? "")} of ${sanitizeLine(mcpServer)}`]),
    ...(repeats === 0 ? [] : [`called before: ${repeats} times`]),
  ];
}

function formatPath(fact: PathFact): string {
  const { argument, input, location, reason } = fact;
  const leads = formatPathTarget(fact);
  const to = leads === input ? "" : ` → ${sanitizeLine(leads)}`;
  const why = reason === undefined ? "" : `: ${sanitizeLine(reason)}`;
  return `${sanitizeLine(argument)} ${sanitizeLine(input)}${to} (${location}${why})`;
}

const MAX_LINE_LENGTH = 500;

/**
 * Escapes control and format characters, so that the text stays on one line and cannot move the cursor or reverse the
 * reading direction. Cut at 500 characters.
 */
function sanitizeLine(text: string): string {
  const visibleText = text
    .replaceAll(HOLE, "…")
    .replaceAll(
      /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return visibleText.length > MAX_LINE_LENGTH
    ? `${visibleText.slice(0, MAX_LINE_LENGTH)}…`
    : visibleText;
}
