import type { PolicyContext, SimpleCommand } from "../domain/policy-decision.ts";
import { wideArgument } from "./argument-tests.ts";
import { allChecks, type CallCheck, type CheckMakers } from "./call-check.ts";
import { timesAtMost } from "./call-facts.ts";
import { withBareName, withSpacedOperators } from "./command/command-lines.ts";
import { coveringTexts } from "./command/join-words.ts";
import { bareName, nameOfProgram } from "./command/launchers.ts";
import { mayBeMethod } from "./method-fact.ts";
import { parsePathPattern } from "./path-pattern.ts";
import { isNamedPath } from "./path-places.ts";
import type { Matcher } from "../domain/policy.ts";
import { parseUrl } from "./url-facts.ts";
import { fitsUrlWidely, parseUrlPattern } from "./url-pattern.ts";
import { fitsAnySpelling, HOLE, spelled, type Spelled } from "./wildcard.ts";

/** For rules that deny or ask: any part of the call is enough, in any spelling, and so is what may fit. */
export function wideMatcher(matcher: Matcher): CallCheck {
  return allChecks(matcher, MAKERS);
}

const MAKERS: CheckMakers = {
  tool: (patterns) => named(patterns, (call, isOne) => isOne(call.tool)),
  toolKind: (kinds) => (call) => kinds.includes(call.kind),
  sideEffect: (effects) => (call) => effects.some((effect) => mayHave(effect, call)),
  path: (patterns) => {
    const parsed = patterns.map(parsePathPattern);
    return ({ paths, kind }) => {
      const takesFolders = kind === "delete" || kind === "move";
      return paths.some((fact) => isNamedPath(parsed, fact, takesFolders));
    };
  },
  command: (patterns) => {
    const compared = [...new Set(patterns.flatMap(formsOfPattern))].map(spelled);
    return (call) =>
      commandTexts(call).some((text) => compared.some((pattern) => fitsAnySpelling(pattern, text)));
  },
  commandIdentity: (patterns) => {
    const plain = patterns.filter((pattern) => !/[*?]/.test(pattern)).map(nameOfProgram);
    return named([...patterns, ...plain], (call, isOne) =>
      simpleCommands(call).some(({ program }) => namesOfProgram(program).some(isOne)),
    );
  },
  url: (patterns) => {
    const parsed = patterns.map(parseUrlPattern);
    return ({ urls = [] }) =>
      urls.some((url) => parsed.some((pattern) => fitsUrlWidely(pattern, url)));
  },
  domain: (patterns) =>
    named(
      patterns,
      ({ urls = [], domains = [] }, isOne) =>
        urls.some((url) => parseUrl(url) === undefined) || domains.some(isOne),
    ),
  method: (methods) => (call) => call.method !== undefined && mayBeMethod(call.method, methods),
  mcpServer: (patterns) =>
    named(patterns, (call, isOne) =>
      [call.mcpServer, modelNames(call).server].some((name) => isOne(name)),
    ),
  mcpTool: (patterns) =>
    named(patterns, (call, isOne) =>
      [call.mcpTool, modelNames(call).tool].some((name) => isOne(name)),
    ),
  capability: (patterns) => named(patterns, (call, isOne) => call.capabilities.some(isOne)),
  // Written so that a count which is no number counts.
  repeatCountAtLeast: (least) => (call) => !(timesAtMost(call) < least),
  args: (tests) => {
    const checks = tests.map(wideArgument);
    return (_, input) => checks.every((check) => check(input));
  },
};

/** A server's and its tool's names as the model has them, in letters that all providers take. */
function modelNames({ tool, mcpServer }: PolicyContext): { server?: string; tool?: string } {
  const at = mcpServer === undefined ? -1 : tool.indexOf("__");
  return at < 0 ? {} : { server: tool.slice(0, at), tool: tool.slice(at + 2) };
}

/** A tool of which nobody knows what it does may do anything that leaves a trace. */
function mayHave(effect: PolicyContext["sideEffect"], call: PolicyContext): boolean {
  const isUnknown = call.kind === "other" && call.sideEffect === "network";
  return effect === call.sideEffect || (isUnknown && effect !== "none" && effect !== "read_only");
}

/** Its operators as the texts have them, and its program, where it is a plain one, in whatever folder it lies. */
function formsOfPattern(pattern: string): string[] {
  const forms = [pattern, withSpacedOperators(pattern)];
  const bare = pattern.replace(/^[^ *?]+/, bareName);
  return bare === pattern ? forms : [...forms, bare, withSpacedOperators(bare)];
}

/** The whole as it was written and in one spelling, and each simple command by itself. Every rule asks for them. */
function commandTexts(call: PolicyContext): readonly Spelled[] {
  if (call.command === undefined) return [];
  const known = texts.get(call);
  if (known !== undefined) return known;
  const parts = simpleCommands(call).flatMap(({ words }) => [
    ...coveringTexts(words),
    ...coveringTexts(withBareName(words)),
  ]);
  const lines = call.commandLines ?? [];
  const made = [...new Set([call.command, ...lines, ...parts])].map(spelled);
  texts.set(call, made);
  return made;
}

const texts = new WeakMap<PolicyContext, readonly Spelled[]>();

/** Where nobody took a command apart, it may be anything. */
function simpleCommands(call: PolicyContext): readonly SimpleCommand[] {
  if (call.command === undefined) return [];
  return call.simpleCommands ?? [{ program: null, words: [HOLE] }];
}

/** In whatever folder it lies. */
function namesOfProgram(program: string | null): string[] {
  if (program === null) return [HOLE];
  return [program, nameOfProgram(program), bareName(program)];
}

type IsOne = (name: string | undefined) => boolean;

/** `isOne` says whether a name may fit one of the patterns. */
function named(
  patterns: readonly string[],
  check: (call: PolicyContext, isOne: IsOne) => boolean,
): CallCheck {
  const compared = patterns.map(spelled);
  const isOne: IsOne = (name) => {
    if (name === undefined) return false;
    const compare = spelled(name);
    return compared.some((pattern) => fitsAnySpelling(pattern, compare));
  };
  return (call) => check(call, isOne);
}
