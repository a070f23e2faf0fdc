import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import { nearNames } from "../../domain/near-names.ts";

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
export function checkedGuards(given: unknown = {}, path = "guards"): Guards {
  const { repeatedCalls, failingTools, lastSteps } = membersOf(given, path, NAMES);
  return {
    repeatedCalls: unlessOff(repeatedCalls, `${path}.repeatedCalls`, repeatedCallsFrom),
    failingTools: unlessOff(failingTools, `${path}.failingTools`, (value, at) => {
      const { after = 2 } = membersOf(value, at, ["after"]);
      return { after: checkedCount(after, `${at}.after`) };
    }),
    lastSteps: unlessOff(lastSteps, `${path}.lastSteps`, (value, at) => {
      const { within = 1 } = membersOf(value, at, ["within"]);
      return { within: checkedCount(within, `${at}.within`) };
    }),
  };
}

const NAMES = ["repeatedCalls", "failingTools", "lastSteps"];

function repeatedCallsFrom(value: unknown, path: string): Required<RepeatedCallsOptions> {
  const {
    most = 1,
    exempt = [],
    rounds = 3,
  } = membersOf(value, path, ["most", "exempt", "rounds"]);
  const isList = Array.isArray(exempt) && exempt.every((name) => typeof name === "string");
  if (!isList) throw wrong(`${path}.exempt`, "a list of names or patterns of tools");
  return {
    most: checkedCount(most, `${path}.most`),
    exempt,
    rounds: checkedCount(rounds, `${path}.rounds`),
  };
}

function unlessOff<Checked>(
  value: unknown,
  path: string,
  check: (value: unknown, path: string) => Checked,
): Checked | null {
  return value === false ? null : check(value ?? {}, path);
}

/** One that is misspelt would be as good as not given. */
function membersOf(
  value: unknown,
  path: string,
  names: readonly string[],
): { readonly [name: string]: unknown } {
  if (!isObject(value)) throw wrong(path, `an object with ${names.join(", ")}`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  const [near] = nearNames(unknown, names);
  const wanted = near ?? `one of ${names.join(", ")}`;
  throw wrong(`${path}.${unknown}`, `${wanted} in its place`);
}

export function checkedCount(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw wrong(path, "a whole number from 1 on");
}

export function wrong(path: string, wanted: string): SpanlineError {
  const message = `${path} is not what it should be; wanted ${wanted}`;
  return new SpanlineError("invalid_option", message, { details: { path } });
}
