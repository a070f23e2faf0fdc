import {
  leadsTo,
  type MatchedRule,
  type PathFact,
  type PolicyContext,
  type PolicyDecision,
} from "../domain/policy-decision.ts";
import { MODE_SOURCE } from "../domain/session-mode.ts";
import { joinWords } from "./command/join-words.ts";
import { HOLE } from "./wildcard.ts";

/** A decision in plain lines for people. */
export function explain(decision: PolicyDecision): string[] {
  const { action, reason, rule, labels, context, approvers, approval } = decision;
  return [
    `${action}: ${plain(reason)}`,
    `by: ${rule === null ? "the default" : placeOf(rule)}`,
    ...(rule === null ? [] : openedBy(rule)),
    ...(action === "ask" ? [`needs: ${whoSaysYes(approvers)}`] : []),
    ...(approval?.prompt === undefined ? [] : [`prompt: ${plain(approval.prompt)}`]),
    ...(approval?.risk === undefined ? [] : [`risk: ${plain(approval.risk)}`]),
    `tool: ${plain(context.tool)} (${context.kind}, ${context.sideEffect})`,
    ...factLines(context),
    ...(labels.length === 0 ? [] : [`labels: ${labels.join(", ")}`]),
  ];
}

/** For people alone: what a model is told does not say how to lift it. */
function openedBy({ source }: MatchedRule): string[] {
  const key = OPENED_BY.get(source);
  return key === undefined ? [] : [`opened by: ${key}`];
}

const OPENED_BY: ReadonlyMap<string, string> = new Map([
  ["default_sensitive_path", "allow_sensitive_paths"],
  ["default_external_path", "external_roots, allow_external_paths"],
]);

function whoSaysYes(approvers: number): string {
  return approvers === 1 ? "somebody to say yes" : `${approvers} different people to say yes`;
}

function placeOf({ source, id, index, layer }: MatchedRule): string {
  const place =
    SINGLE.has(source) || source.startsWith("default_") ? source : `${source}[${index}]`;
  const named = id === null ? place : `${place} ${plain(id)}`;
  return layer === undefined ? named : `${named} of policy ${layer + 1}`;
}

/** Parts of a policy that have one entry. */
const SINGLE = new Set(["write_path_allowlist", "repeat_limit", "policy", MODE_SOURCE]);

function factLines(context: PolicyContext): string[] {
  const { paths, simpleCommands = [], urls = [], method, mcpServer, mcpTool, repeats } = context;
  return [
    ...paths.map((fact) => `path: ${pathLine(fact)}`),
    ...simpleCommands.map(({ words }) => `runs: ${plain(joinWords(words))}`),
    ...(context.commandUnparsed === undefined
      ? []
      : [`not certain: ${plain(context.commandUnparsed)}`]),
    ...urls.map(
      (url) => `address: ${method === undefined ? "" : `${plain(method)} `}${plain(url)}`,
    ),
    ...(mcpServer === undefined ? [] : [`MCP: ${plain(mcpTool ?? "")} of ${plain(mcpServer)}`]),
    ...(repeats === 0 ? [] : [`made before: ${repeats} times`]),
  ];
}

function pathLine(fact: PathFact): string {
  const { argument, input, place, reason } = fact;
  const leads = leadsTo(fact);
  const to = leads === input ? "" : ` → ${plain(leads)}`;
  const why = reason === undefined ? "" : `: ${plain(reason)}`;
  return `${plain(argument)} ${plain(input)}${to} (${place}${why})`;
}

const LONGEST_LINE = 500;

/** In one line, with nothing that moves a terminal's cursor or turns the text around. */
function plain(text: string): string {
  const seen = text
    .replaceAll(HOLE, "…")
    .replaceAll(
      /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/gu,
      (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return seen.length > LONGEST_LINE ? `${seen.slice(0, LONGEST_LINE)}…` : seen;
}
