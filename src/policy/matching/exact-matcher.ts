import type { PolicyContext, SimpleCommand } from "../../domain/policy/policy-decision.ts";
import { createExactArgumentCheck } from "./argument-checks.ts";
import { createMatcherCheck, type ToolCallCheck, type CheckFactories } from "./tool-call-check.ts";
import { joinWords } from "../command/join-words.ts";
import { parsePathPattern } from "./path-pattern.ts";
import { isAllowedPath } from "./path-matching.ts";
import type { Matcher } from "../../domain/policy/policy.ts";
import { parseUrl } from "../facts/url-facts.ts";
import { matchesUrl, parseUrlPattern } from "./url-pattern.ts";
import { matchesWildcard } from "./wildcard.ts";

/**
 * Exact matching for `allow` rules: every part of the call must match as written. An uncertain fact never matches, and
 * neither does an empty list. See `evaluate-policy.ts`.
 */
export function createExactMatcher(matcher: Matcher): ToolCallCheck {
  const covers = createCoverageCheck(matcher);
  const matchesKeys = createMatcherCheck(matcher, EXACT_CHECKS);
  return (call, input) => covers(call, input) && matchesKeys(call, input);
}

const EXACT_CHECKS: CheckFactories = {
  tool: (patterns) => createNameCheck(patterns, (call, matchesName) => matchesName(call.tool)),
  toolKind: (kinds) => (call) => kinds.includes(call.kind),
  sideEffect: (effects) => (call) => effects.includes(call.sideEffect),
  path: (patterns) => {
    const parsed = patterns.map(parsePathPattern);
    return ({ paths, pathsUnclear }) =>
      pathsUnclear === undefined && isNonEmptyEvery(paths, (fact) => isAllowedPath(parsed, fact));
  },
  command: (patterns) =>
    createNameCheck(patterns, (call, matchesName) =>
      isNonEmptyEvery(listCertainCommands(call), ({ words }) => matchesName(joinWords(words))),
    ),
  commandIdentity: (patterns) =>
    createNameCheck(patterns, (call, matchesName) =>
      isNonEmptyEvery(listCertainCommands(call), ({ program }) => matchesName(program)),
    ),
  url: (patterns) => {
    const parsed = patterns.map(parseUrlPattern);
    return ({ urls = [] }) =>
      isNonEmptyEvery(urls, (url) => parsed.some((pattern) => matchesUrl(pattern, url)));
  },
  domain: (patterns) =>
    createNameCheck(patterns, ({ urls = [], domains = [] }, matchesName) => {
      const areAddresses = isNonEmptyEvery(urls, (url) => parseUrl(url) !== undefined);
      return areAddresses && isNonEmptyEvery(domains, matchesName);
    }),
  method: (methods) => (call) => call.method !== undefined && methods.includes(call.method),
  mcpServer: (patterns) =>
    createNameCheck(patterns, (call, matchesName) => matchesName(call.mcpServer)),
  mcpTool: (patterns) =>
    createNameCheck(patterns, (call, matchesName) => matchesName(call.mcpTool)),
  capability: (patterns) =>
    createNameCheck(patterns, (call, matchesName) =>
      isNonEmptyEvery(call.capabilities, matchesName),
    ),
  repeatCountAtLeast: (least) => (call) => call.repeats >= least,
  args: (tests) => {
    const checks = tests.map(createExactArgumentCheck);
    return (_, input) => checks.every((check) => check(input));
  },
};

/**
 * Arguments are chosen by the model, and an added argument must not make a call match a rule meant for another tool. A
 * rule which names no tools must therefore cover all effects of the call: its paths, its command and its URLs.
 */
function createCoverageCheck(matcher: Matcher): ToolCallCheck {
  if (Object.keys(matcher).length === 0 || hasToolConditions(matcher)) return () => true;
  const { path, command, commandIdentity, url, domain } = matcher;
  return (call) =>
    (path !== undefined || (call.paths.length === 0 && call.pathsUnclear === undefined)) &&
    (command !== undefined || commandIdentity !== undefined || call.command === undefined) &&
    (url !== undefined || domain !== undefined || call.urls === undefined);
}

/** Whether a matcher selects tools by their identity or traits rather than by arguments. */
export function hasToolConditions(matcher: Matcher): boolean {
  const { tool, toolKind, sideEffect, capability, mcpServer, mcpTool } = matcher;
  const keys = [tool, toolKind, sideEffect, capability, mcpServer, mcpTool];
  return keys.some((key) => key !== undefined);
}

function listCertainCommands(call: PolicyContext): readonly SimpleCommand[] {
  return call.commandUnparsed === undefined ? (call.simpleCommands ?? []) : [];
}

type MatchesName = (name: string | null | undefined) => boolean;

/** `matchesName` returns whether a name matches any of the patterns. */
function createNameCheck(
  patterns: readonly string[],
  check: (call: PolicyContext, matchesName: MatchesName) => boolean,
): ToolCallCheck {
  const matchesName: MatchesName = (name) => {
    if (name === null || name === undefined) return false;
    return patterns.some((pattern) => matchesWildcard(pattern, name));
  };
  return (call) => check(call, matchesName);
}

/** True if the list is not empty and every item passes. */
function isNonEmptyEvery<Item>(items: readonly Item[], check: (item: Item) => boolean): boolean {
  return items.length > 0 && items.every((item) => check(item));
}
