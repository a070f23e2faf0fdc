import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import { suggestNames } from "../../text/suggest-name.ts";

/** What steps in when a model goes in circles. Each can be set, or switched off with `false`. */
export interface LocalGuards {
  /** A call that was answered in this turn is not run again: the model is told so. */
  readonly repeatedCalls?: false | RepeatedCallsOptions;
  /** A tool that fails again and again is pointed out to the model. */
  readonly failingTools?: false | FailingToolsOptions;
  /** The model is told when its turn is about to reach its cap. */
  readonly lastSteps?: false | LastStepsOptions;
}

export interface RepeatedCallsOptions {
  /** How often one call, with the same name and the same arguments, is run in a turn; once unless said. */
  readonly most?: number;
  /** Tools that may be called the same way any number of times, such as those that look whether something is ready: names or patterns. */
  readonly exempt?: readonly string[];
  /** How often the model is asked while it says nothing but such calls, before the turn ends; 3 times unless said. */
  readonly rounds?: number;
}

export interface FailingToolsOptions {
  /** From how many failures in a row on; 2 unless said. */
  readonly after?: number;
}

export interface LastStepsOptions {
  /** How many steps before the cap, the last one among them; 1 unless said. */
  readonly within?: number;
}

/** With every threshold; null is switched off. */
export interface Guards {
  readonly repeatedCalls: Required<RepeatedCallsOptions> | null;
  readonly failingTools: Required<FailingToolsOptions> | null;
  readonly lastSteps: Required<LastStepsOptions> | null;
}

/** `path` is where they stand. */
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

/** One that is misspelt would be as good as not given. */
function readMembers(
  value: unknown,
  path: string,
  names: readonly string[],
): { readonly [name: string]: unknown } {
  if (!isObject(value)) throw createOptionError(path, `an object with ${names.join(", ")}`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  const [near] = suggestNames(unknown, names);
  const expected = near ?? `one of ${names.join(", ")}`;
  throw createOptionError(`${path}.${unknown}`, `${expected} in its place`);
}

export function checkCount(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw createOptionError(path, "a whole number from 1 on");
}

export function createOptionError(path: string, expected: string): SpanlineError {
  const message = `${path} is not what it should be; wanted ${expected}`;
  return new SpanlineError("invalid_option", message, { details: { path } });
}
