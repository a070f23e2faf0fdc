import { SpanlineError } from "../domain/errors.ts";
import { isObject, toJsonText } from "../data/json.ts";

/** Behaviour that AWS does not document, as choices. The first value of each list is the default. */
const SWITCH_CHOICES = {
  /**
   * After a client disconnects: the turn finishes or aborts, and the session stores the turn, only its prompt, or
   * neither.
   */
  onDisconnect: ["finish+remember", "finish+forget", "abort+keep-user", "abort+forget"],
  /** A second invocation while a turn is running: refused, or run in parallel from the same history. */
  overlapping: ["409", "interleave"],
  /** Text in a message with tool results. */
  textBesideResults: ["accept", "reject"],
  /** Whether events have the padding member `p`, like in Bedrock. */
  padding: ["off", "on"],
  /** Whether a silent stream sends a `keepAlive` event every 15 seconds. */
  keepAlive: ["off", "on"],
  /** How throttling is reported: HTTP status, a separate exception frame, or inside a `runtimeClientError`. */
  throttlingInStream: ["http", "frame", "wrapped"],
  /** Whether the results of server tools are part of the stream. */
  serverToolResults: ["user-message", "hidden"],
  /** The stop reason of a message with server tool results. */
  serverToolStop: ["tool_result", "end_turn"],
  /** Whether a resume must repeat the assistant message even if the harness has memory. */
  echoWithMemory: ["required", "optional"],
  /** Whether the messages of an ended session are restored with its id if the harness has memory. */
  reviveWithMemory: ["fresh", "remember"],
  /** The response to stopping an unknown session. */
  stopUnknownSession: ["ok", "404"],
  /** How a turn ends if its session is stopped: with the reason `interrupted`, or with a reset connection. */
  stopDuringTurn: ["interrupted", "reset"],
  /** The stop reason at the time limit. */
  timeoutStop: ["timeout_exceeded", "partial_turn"],
  /** The response if a harness or an endpoint is not READY. */
  notReady: ["404", "400"],
  /**
   * Whether `maxTokens` limits the output of the whole invocation (`max_output_tokens_exceeded`) or of each model call
   * (`max_tokens`).
   */
  maxTokens: ["total", "per-call"],
} as const;

export type Switches = {
  readonly [Name in keyof typeof SWITCH_CHOICES]: (typeof SWITCH_CHOICES)[Name][number];
};

/** The choices by name, the default first. */
export const SWITCHES: { readonly [name: string]: readonly string[] } = SWITCH_CHOICES;

/** Parses switches and adds the defaults. Throws on an unknown name or value. */
export function parseSwitches(input: unknown = {}): Switches {
  if (!isObject(input))
    throwInvalidSwitch(`${toJsonText(input)} is not valid for switches: expected an object`);
  for (const [name, value] of Object.entries(input)) {
    const choices = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
    if (choices === undefined) {
      const names = Object.keys(SWITCHES).join(", ");
      throwInvalidSwitch(`"${name}" is not a valid switch: expected ${names}`);
    }
    // YAML reads 409 as a number.
    if (!choices.includes(typeof value === "number" ? String(value) : (value as string))) {
      const allowed = choices.map((choice) => `"${choice}"`).join(" or ");
      throwInvalidSwitch(
        `${toJsonText(value)} is not a valid value of the switch "${name}": expected ${allowed}`,
      );
    }
  }
  const defaults = Object.entries(SWITCHES).map(([name, choices]) => [name, choices[0]]);
  const set = Object.entries(input).map(([name, value]) => [name, String(value)]);
  return Object.fromEntries([...defaults, ...set]) as Switches;
}

function throwInvalidSwitch(message: string): never {
  throw new SpanlineError("invalid_option", message);
}
