import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** Guards against a model that repeats itself. Each guard can be configured, or disabled with `false`. */
export interface LocalGuards {
  /** A tool call already answered in this turn is not run again; the model receives a note instead. */
  readonly repeatedCalls?: false | RepeatedCallsOptions;
  /** The model receives a note about a tool that fails several times in a row. */
  readonly failingTools?: false | FailingToolsOptions;
  /** The model receives a note when its turn is about to reach the step limit. */
  readonly lastSteps?: false | LastStepsOptions;
}

export interface RepeatedCallsOptions {
  /** How often a tool call with the same name and arguments runs per turn. Default: 1. */
  readonly most?: number;
  /**
   * Tools that may be called any number of times with the same arguments, for example to poll. Names or patterns with
   * `*`. Default: none.
   */
  readonly exempt?: readonly string[];
  /**
   * The maximum of model requests per invocation while the model only repeats tool calls. Then the turn ends. Default:
   * 3.
   */
  readonly rounds?: number;
}

export interface FailingToolsOptions {
  /** The number of failures in a row that triggers the note. Default: 2. */
  readonly after?: number;
}

export interface LastStepsOptions {
  /** The number of steps before the limit, including the last step. Default: 1. */
  readonly within?: number;
}

/** Guards with all defaults applied. Null means disabled. */
export interface Guards {
  readonly repeatedCalls: Required<RepeatedCallsOptions> | null;
  readonly failingTools: Required<FailingToolsOptions> | null;
  readonly lastSteps: Required<LastStepsOptions> | null;
}

/** Parses guard settings. `path` is the path of the settings in error messages. */
export function parseGuards(input: unknown = {}, path = "guards"): Guards {
  const { repeatedCalls, failingTools, lastSteps } = readMembers(input, path, GUARD_NAMES);
  return {
    repeatedCalls: parseUnlessOff(repeatedCalls, `${path}.repeatedCalls`, parseRepeatedCalls),
    failingTools: parseUnlessOff(failingTools, `${path}.failingTools`, (value, at) => {
      const { after = 2 } = readMembers(value, at, ["after"]);
      return { after: checkCount(after, `${at}.after`) };
    }),
    lastSteps: parseUnlessOff(lastSteps, `${path}.lastSteps`, (value, at) => {
      const { within = 1 } = readMembers(value, at, ["within"]);
      return { within: checkCount(within, `${at}.within`) };
    }),
  };
}

const GUARD_NAMES = ["repeatedCalls", "failingTools", "lastSteps"];

function parseRepeatedCalls(value: unknown, path: string): Required<RepeatedCallsOptions> {
  const {
    most = 1,
    exempt = [],
    rounds = 3,
  } = readMembers(value, path, ["most", "exempt", "rounds"]);
  const isList = Array.isArray(exempt) && exempt.every((name) => typeof name === "string");
  if (!isList) throw createOptionError(`${path}.exempt`, "a list of names or patterns of tools");
  return {
    most: checkCount(most, `${path}.most`),
    exempt,
    rounds: checkCount(rounds, `${path}.rounds`),
  };
}

function parseUnlessOff<Checked>(
  value: unknown,
  path: string,
  check: (value: unknown, path: string) => Checked,
): Checked | null {
  return value === false ? null : check(value ?? {}, path);
}

/** Reads the members of an object. An unknown name is an error, because a misspelt name would have no effect. */
function readMembers(
  value: unknown,
  path: string,
  names: readonly string[],
): { readonly [name: string]: unknown } {
  if (!isObject(value)) throw createOptionError(path, `an object with ${names.join(", ")}`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  const fullPath = `${path}.${unknown}`;
  const message = formatUnknownName("Key", unknown, { names, path: fullPath });
  throw new SpanlineError("invalid_option", message, { details: { path: fullPath } });
}

export function checkCount(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw createOptionError(path, "a whole number, at least 1");
}

export function createOptionError(path: string, expected: string): SpanlineError {
  const message = `${path} is not valid: expected ${expected}`;
  return new SpanlineError("invalid_option", message, { details: { path } });
}
