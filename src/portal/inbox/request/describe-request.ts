import {
  formatPathTarget,
  type MatchedRule,
  type PathFact,
  type PolicyContext,
} from "../../../domain/policy/policy-decision.ts";
import { MODE_SOURCE } from "../../../domain/session-mode.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { getCommand, type OpenRequest, type RequestDetails } from "./open-request.ts";

/** Characters of a command or an address in a sentence. The details show the rest. */
const MAX_QUOTED = 90;

/** Describes a request in a sentence, such as `Edit README.md?`. */
export function describeRequest(request: RequestDetails): string {
  switch (request.question) {
    case "question":
      return request.form?.text ?? request.action;
    case "budget":
    case "lost-invocation":
      return endSentence(request.action);
    case "outcome":
      return `${request.decision?.context.tool ?? request.action} was interrupted. What happened?`;
    case "run": {
      const again = (request.attempt ?? 1) > 1 ? " again" : "";
      return `${describeTool(request)}${again}?`;
    }
  }
}

function endSentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

const VERBS: { readonly [Kind in PolicyContext["kind"]]?: string } = {
  read: "Read",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  search: "Search in",
};

function describeTool(request: RequestDetails): string {
  const { decision, action } = request;
  if (decision === undefined) return action;
  const { context } = decision;
  const command = getCommand(request);
  if (command !== undefined) return `Run ${quote(command)}`;
  const [url] = context.urls ?? [];
  if (url !== undefined) return `${context.method ?? "Fetch"} ${shorten(url)}`;
  const verb = VERBS[context.kind];
  if (verb !== undefined && context.paths.length > 0)
    return `${verb} ${describePaths(context.paths)}`;
  if (context.mcpServer !== undefined)
    return `Call ${context.mcpTool ?? context.tool} of ${context.mcpServer}`;
  return `Run ${context.tool}`;
}

function describePaths(paths: readonly PathFact[]): string {
  const [first, second, ...others] = [...new Set(paths.map(formatPathTarget))];
  if (first === undefined) return "a file";
  if (second === undefined) return first;
  if (others.length === 0) return `${first} and ${second}`;
  return `${first} and ${pluralize(others.length + 1, "other path")}`;
}

function quote(command: string): string {
  return `“${shorten(command)}”`;
}

/** Shortens text to its first line. */
function shorten(text: string): string {
  const [first = "", ...others] = text.trim().split("\n");
  const line = first.trim().replaceAll(/\s+/g, " ");
  if (line.length > MAX_QUOTED) return `${line.slice(0, MAX_QUOTED - 1)}…`;
  return others.length === 0 ? line : `${line} …`;
}

/** Describes the consequence of a decision. Undefined for ordinary requests. */
export function describeConsequence({ question, attempt = 1 }: RequestDetails): string | undefined {
  switch (question) {
    case "outcome":
      return "The bridge stopped while this tool ran, so it may already have run. Running it again repeats its effect.";
    case "run":
      return attempt > 1 ? "This tool may already have run. Allowing runs it again." : undefined;
    case "lost-invocation":
      return "The response of the agent was lost. Continuing sends one visible recovery message; starting over opens a new conversation from the log.";
    case "budget":
      return "The turn is paused. Nothing is charged while it waits.";
    case "question":
      return undefined;
  }
}

/** Describes the location of a path argument. */
export function describePathLocation({ location, reason }: PathFact): string {
  switch (location) {
    case "inside":
      return "in the workspace";
    case "outside":
      return "outside the workspace";
    case "protected":
      return "protected: data or configuration of Spanline";
    case "invalid":
      return reason === undefined ? "not a valid path" : `not a valid path: ${reason}`;
  }
}

/** Lists the uncertainties of the policy's evaluation, as sentences. */
export function listWarnings({ decision }: RequestDetails): readonly string[] {
  if (decision === undefined) return [];
  const { pathsUnclear, commandUnparsed } = decision.context;
  return [
    ...(commandUnparsed === undefined
      ? []
      : [`The command could not be read with certainty: ${commandUnparsed}`]),
    ...(pathsUnclear === undefined ? [] : [`The paths may be incomplete: ${pathsUnclear}`]),
  ];
}

/** Says how often the same call was made before. Undefined for the first. */
export function describeRepeats({ decision }: RequestDetails): string | undefined {
  const { repeats = 0, uncountedRepeats = 0 } = decision?.context ?? {};
  if (repeats === 0) return undefined;
  const count = pluralize(repeats, "identical call");
  return `${uncountedRepeats > 0 ? "At least " : ""}${count} before in this session`;
}

/** Names the rule which asks, such as `rules[2] git-push`. */
export function describeRule(rule: MatchedRule): string {
  const { source, id, index, layer } = rule;
  if (source === MODE_SOURCE) return "The session mode asks";
  const entry = SINGLE_SOURCES.has(source) ? source : `${source}[${index}]`;
  const named = id === null ? `Rule ${entry}` : `Rule ${id} (${entry})`;
  return layer === undefined || layer === 0 ? named : `${named} of policy ${layer + 1}`;
}

/** Parts of a policy with a single entry. */
const SINGLE_SOURCES = new Set(["write_path_allowlist", "repeat_limit", "policy"]);

/** Names the approvers and the number of missing approvals. Undefined if a single person decides. */
export function describeVotes({ request, votes }: OpenRequest): string | undefined {
  const { approvers = 1 } = request;
  if (approvers <= 1) return undefined;
  const people = [...new Set(votes.map(({ principal }) => principal))];
  const missing = Math.max(1, approvers - people.length);
  if (people.length === 0) return `${approvers} different people must approve`;
  return `${people.join(", ")} approved; ${pluralize(missing, "more person", "more people")} must approve`;
}

export function hasVoted({ votes }: Pick<OpenRequest, "votes">, principal: string | null): boolean {
  return principal !== null && votes.some((vote) => vote.principal === principal);
}

/** The risk labels of a decision, without the labels of every request. */
export function listLabels({ decision }: RequestDetails): readonly string[] {
  return (decision?.labels ?? []).filter(
    (label) => label !== "approval_required" && label !== "question",
  );
}
