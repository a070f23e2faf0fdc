import type { PolicyContext, SimpleCommand } from "../../domain/policy/policy-decision.ts";
import { createWideArgumentCheck } from "./argument-checks.ts";
import { createMatcherCheck, type ToolCallCheck, type CheckFactories } from "./tool-call-check.ts";
import { computeMaxRepeats } from "../facts/tool-call-facts.ts";
import { useBareName, spaceOperators } from "../command/command-lines.ts";
import { listCoveringTexts } from "../command/join-words.ts";
import { toBareName, readProgramName } from "../command/launchers.ts";
import { mayBeMethod } from "../facts/http-method.ts";
import { parsePathPattern } from "./path-pattern.ts";
import { mayNamePath } from "./path-matching.ts";
import type { Matcher } from "../../domain/policy/policy.ts";
import { parseUrl } from "../facts/url-facts.ts";
import { mayMatchUrl, parseUrlPattern } from "./url-pattern.ts";
import { mayMatchInAnySpelling, HOLE, createSpelledText, type SpelledText } from "./wildcard.ts";

/**
 * Conservative matching for `deny` and `ask` rules: one matching part of the call is enough, in any spelling, and an
 * uncertain fact matches. See `evaluate-policy.ts`.
 */
export function createConservativeMatcher(matcher: Matcher): ToolCallCheck {
  return createMatcherCheck(matcher, CONSERVATIVE_CHECKS);
}

const CONSERVATIVE_CHECKS: CheckFactories = {
  tool: (patterns) => createNameCheck(patterns, (call, mayMatchName) => mayMatchName(call.tool)),
  toolKind: (kinds) => (call) => kinds.includes(call.kind),
  sideEffect: (effects) => (call) => effects.some((effect) => mayHaveEffect(effect, call)),
  path: (patterns) => {
    const parsed = patterns.map(parsePathPattern);
    return ({ paths, kind }) => {
      const affectsFolders = kind === "delete" || kind === "move";
      return paths.some((fact) => mayNamePath(parsed, fact, affectsFolders));
    };
  },
  command: (patterns) => {
    const compared = [...new Set(patterns.flatMap(expandCommandPattern))].map(createSpelledText);
    return (call) =>
      listCommandTexts(call).some((text) =>
        compared.some((pattern) => mayMatchInAnySpelling(pattern, text)),
      );
  },
  commandIdentity: (patterns) => {
    const plain = patterns.filter((pattern) => !/[*?]/.test(pattern)).map(readProgramName);
    return createNameCheck([...patterns, ...plain], (call, mayMatchName) =>
      listSimpleCommands(call).some(({ program }) => listProgramNames(program).some(mayMatchName)),
    );
  },
  url: (patterns) => {
    const parsed = patterns.map(parseUrlPattern);
    return ({ urls = [] }) =>
      urls.some((url) => parsed.some((pattern) => mayMatchUrl(pattern, url)));
  },
  domain: (patterns) =>
    createNameCheck(
      patterns,
      ({ urls = [], domains = [] }, mayMatchName) =>
        urls.some((url) => parseUrl(url) === undefined) || domains.some(mayMatchName),
    ),
  method: (methods) => (call) => call.method !== undefined && mayBeMethod(call.method, methods),
  mcpServer: (patterns) =>
    createNameCheck(patterns, (call, mayMatchName) =>
      [call.mcpServer, toModelNames(call).server].some((name) => mayMatchName(name)),
    ),
  mcpTool: (patterns) =>
    createNameCheck(patterns, (call, mayMatchName) =>
      [call.mcpTool, toModelNames(call).tool].some((name) => mayMatchName(name)),
    ),
  capability: (patterns) =>
    createNameCheck(patterns, (call, mayMatchName) => call.capabilities.some(mayMatchName)),
  // Negated, so that a count which is not a number (NaN) matches.
  repeatCountAtLeast: (least) => (call) => !(computeMaxRepeats(call) < least),
  args: (tests) => {
    const checks = tests.map(createWideArgumentCheck);
    return (_, input) => checks.every((check) => check(input));
  },
};

/** The server and tool names in the model's tool name, which contains only characters allowed by all providers. */
function toModelNames({ tool, mcpServer }: PolicyContext): { server?: string; tool?: string } {
  const at = mcpServer === undefined ? -1 : tool.indexOf("__");
  return at < 0 ? {} : { server: tool.slice(0, at), tool: tool.slice(at + 2) };
}

/** A tool with unknown traits may have any effect except `none` and `read_only`. */
function mayHaveEffect(effect: PolicyContext["sideEffect"], call: PolicyContext): boolean {
  const isUnknown = call.kind === "other" && call.sideEffect === "network";
  return effect === call.sideEffect || (isUnknown && effect !== "none" && effect !== "read_only");
}

/** The forms of a pattern: with spaced operators, and with the bare name of a plain program, in any folder. */
function expandCommandPattern(pattern: string): string[] {
  const forms = [pattern, spaceOperators(pattern)];
  const bare = pattern.replace(/^[^ *?]+/, toBareName);
  return bare === pattern ? forms : [...forms, bare, spaceOperators(bare)];
}

/**
 * The whole command as written and normalized, and each simple command. Cached per call, since every rule reads the
 * list.
 */
function listCommandTexts(call: PolicyContext): readonly SpelledText[] {
  if (call.command === undefined) return [];
  const cached = COMMAND_TEXTS.get(call);
  if (cached !== undefined) return cached;
  const parts = listSimpleCommands(call).flatMap(({ words }) => [
    ...listCoveringTexts(words),
    ...listCoveringTexts(useBareName(words)),
  ]);
  const lines = call.commandLines ?? [];
  const spelledTexts = [...new Set([call.command, ...lines, ...parts])].map(createSpelledText);
  COMMAND_TEXTS.set(call, spelledTexts);
  return spelledTexts;
}

const COMMAND_TEXTS = new WeakMap<PolicyContext, readonly SpelledText[]>();

/** A command which was not split into simple commands may run anything. */
function listSimpleCommands(call: PolicyContext): readonly SimpleCommand[] {
  if (call.command === undefined) return [];
  return call.simpleCommands ?? [{ program: null, words: [HOLE] }];
}

/** The program's path, its file name, and the name without `.exe`. */
function listProgramNames(program: string | null): string[] {
  if (program === null) return [HOLE];
  return [program, readProgramName(program), toBareName(program)];
}

type MayMatchName = (name: string | undefined) => boolean;

/** `mayMatchName` returns whether a name may match any of the patterns. */
function createNameCheck(
  patterns: readonly string[],
  check: (call: PolicyContext, mayMatchName: MayMatchName) => boolean,
): ToolCallCheck {
  const compared = patterns.map(createSpelledText);
  const mayMatchName: MayMatchName = (name) => {
    if (name === undefined) return false;
    const compare = createSpelledText(name);
    return compared.some((pattern) => mayMatchInAnySpelling(pattern, compare));
  };
  return (call) => check(call, mayMatchName);
}
