import type { PolicyContext, SimpleCommand } from "../domain/policy-decision.ts";
import { exactArgument } from "./argument-tests.ts";
import { allChecks, type CallCheck, type CheckMakers } from "./call-check.ts";
import { joinWords } from "./command/join-words.ts";
import { parsePathPattern } from "./path-pattern.ts";
import { isAllowedPath } from "./path-places.ts";
import type { Matcher } from "../domain/policy.ts";
import { parseUrl } from "./url-facts.ts";
import { fitsUrl, parseUrlPattern } from "./url-pattern.ts";
import { fits } from "./wildcard.ts";

/**
 * For rules that allow: all of the call has to fit, as it is. What is not certain fits nothing, and neither does a list of
 * nothing.
 */
export function exactMatcher(matcher: Matcher): CallCheck {
  const covers = coversCall(matcher);
  const fits = allChecks(matcher, MAKERS);
  return (call, input) => covers(call, input) && fits(call, input);
}

const MAKERS: CheckMakers = {
  tool: (patterns) => named(patterns, (call, isOne) => isOne(call.tool)),
  toolKind: (kinds) => (call) => kinds.includes(call.kind),
  sideEffect: (effects) => (call) => effects.includes(call.sideEffect),
  path: (patterns) => {
    const parsed = patterns.map(parsePathPattern);
    return ({ paths, pathsUnclear }) =>
      pathsUnclear === undefined && isEvery(paths, (fact) => isAllowedPath(parsed, fact));
  },
  command: (patterns) =>
    named(patterns, (call, isOne) =>
      isEvery(certainCommands(call), ({ words }) => isOne(joinWords(words))),
    ),
  commandIdentity: (patterns) =>
    named(patterns, (call, isOne) =>
      isEvery(certainCommands(call), ({ program }) => isOne(program)),
    ),
  url: (patterns) => {
    const parsed = patterns.map(parseUrlPattern);
    return ({ urls = [] }) =>
      isEvery(urls, (url) => parsed.some((pattern) => fitsUrl(pattern, url)));
  },
  domain: (patterns) =>
    named(patterns, ({ urls = [], domains = [] }, isOne) => {
      const areAddresses = isEvery(urls, (url) => parseUrl(url) !== undefined);
      return areAddresses && isEvery(domains, isOne);
    }),
  method: (methods) => (call) => call.method !== undefined && methods.includes(call.method),
  mcpServer: (patterns) => named(patterns, (call, isOne) => isOne(call.mcpServer)),
  mcpTool: (patterns) => named(patterns, (call, isOne) => isOne(call.mcpTool)),
  capability: (patterns) => named(patterns, (call, isOne) => isEvery(call.capabilities, isOne)),
  repeatCountAtLeast: (least) => (call) => call.repeats >= least,
  args: (tests) => {
    const checks = tests.map(exactArgument);
    return (_, input) => checks.every((check) => check(input));
  },
};

/**
 * What arguments say is the model's choice: one more of them must not earn a call the rule of another. A rule that does
 * not say which tools it means has to speak of all that a call does: its paths, its command, its addresses.
 */
function coversCall(matcher: Matcher): CallCheck {
  if (Object.keys(matcher).length === 0 || namesTools(matcher)) return () => true;
  const { path, command, commandIdentity, url, domain } = matcher;
  return (call) =>
    (path !== undefined || (call.paths.length === 0 && call.pathsUnclear === undefined)) &&
    (command !== undefined || commandIdentity !== undefined || call.command === undefined) &&
    (url !== undefined || domain !== undefined || call.urls === undefined);
}

/** By what a tool is, not by how it is called. */
export function namesTools(matcher: Matcher): boolean {
  const { tool, toolKind, sideEffect, capability, mcpServer, mcpTool } = matcher;
  const keys = [tool, toolKind, sideEffect, capability, mcpServer, mcpTool];
  return keys.some((key) => key !== undefined);
}

function certainCommands(call: PolicyContext): readonly SimpleCommand[] {
  return call.commandUnparsed === undefined ? (call.simpleCommands ?? []) : [];
}

type IsOne = (name: string | null | undefined) => boolean;

/** `isOne` says whether a name fits one of the patterns. */
function named(
  patterns: readonly string[],
  check: (call: PolicyContext, isOne: IsOne) => boolean,
): CallCheck {
  const isOne: IsOne = (name) => {
    if (name === null || name === undefined) return false;
    return patterns.some((pattern) => fits(pattern, name));
  };
  return (call) => check(call, isOne);
}

/** Every one, and at least one. */
function isEvery<Item>(items: readonly Item[], check: (item: Item) => boolean): boolean {
  return items.length > 0 && items.every((item) => check(item));
}
