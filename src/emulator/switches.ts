import { SpanlineError } from "../domain/errors.ts";
import { isObject, toJsonText } from "../data/json.ts";

/** What is not known of the service, each as a choice. The first value of each list is the default. */
const SWITCH_CHOICES = {
  /** What becomes of a turn whose client leaves: it goes on or ends, and the session keeps it, its question, or nothing. */
  onDisconnect: ["finish+remember", "finish+forget", "abort+keep-user", "abort+forget"],
  /** An invocation of a session that has one under way: refused, or run beside it from the same history. */
  overlapping: ["409", "interleave"],
  /** Text in the message that carries tool results. */
  textBesideResults: ["accept", "reject"],
  /** Whether events carry the padding member `p`, as those of Bedrock do. */
  padding: ["off", "on"],
  /** Whether a silent stream gets a `keepAlive` event every 15 seconds. */
  keepAlive: ["off", "on"],
  /** How a throttled turn says so: by HTTP status, as an exception frame of its own, or inside a `runtimeClientError`. */
  throttlingInStream: ["http", "frame", "wrapped"],
  /** Whether the results of tools on the service's side are part of the stream. */
  serverToolResults: ["user-message", "hidden"],
  /** The stop reason that closes a message of such results. */
  serverToolStop: ["tool_result", "end_turn"],
  /** Whether a resume must repeat the assistant's part although the harness has memory. */
  echoWithMemory: ["required", "optional"],
  /** Whether the conversation of a session that ended comes back with its id, where the harness has memory. */
  reviveWithMemory: ["fresh", "remember"],
  /** The answer to stopping a session that nobody started. */
  stopUnknownSession: ["ok", "404"],
  /** How a turn ends whose session is stopped: with the reason `interrupted`, or with its connection. */
  stopDuringTurn: ["interrupted", "reset"],
  /** The reason that a turn ends with at its time limit. */
  timeoutStop: ["timeout_exceeded", "partial_turn"],
  /** The answer for a harness or an endpoint that is not READY. */
  notReady: ["404", "400"],
  /** Whether `maxTokens` counts all output of an invocation (`max_output_tokens_exceeded`) or each model call (`max_tokens`). */
  maxTokens: ["total", "per-call"],
} as const;

export type Switches = {
  readonly [Name in keyof typeof SWITCH_CHOICES]: (typeof SWITCH_CHOICES)[Name][number];
};

/** The choices by name, the default first. */
export const SWITCHES: { readonly [name: string]: readonly string[] } = SWITCH_CHOICES;

/** Reads what a user has set and fills in the rest. Throws on a name or a value that there is not. */
export function parseSwitches(input: unknown = {}): Switches {
  if (!isObject(input)) throwInvalidSwitch(`Switches are ${toJsonText(input)}, wanted an object`);
  for (const [name, value] of Object.entries(input)) {
    const choices = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
    if (choices === undefined) {
      const names = Object.keys(SWITCHES).join(", ");
      throwInvalidSwitch(`There is no switch "${name}"; there are ${names}`);
    }
    // YAML reads 409 as a number.
    if (!choices.includes(typeof value === "number" ? String(value) : (value as string))) {
      const allowed = choices.map((choice) => `"${choice}"`).join(" or ");
      throwInvalidSwitch(`The switch "${name}" is ${toJsonText(value)}, wanted ${allowed}`);
    }
  }
  const defaults = Object.entries(SWITCHES).map(([name, choices]) => [name, choices[0]]);
  const set = Object.entries(input).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries([...defaults, ...set]) as Switches;
}

function throwInvalidSwitch(message: string): never {
  throw new SpanlineError("invalid_option", message);
}
