import { object, oneOf, withDefault, type Schema } from "../data/schema-reader.ts";
import { readOptions } from "../domain/option-reader.ts";

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

const SWITCHES_SCHEMA = object(
  Object.fromEntries(
    Object.entries(SWITCHES).map(([name, choices]) => [name, createSwitchSchema(choices)]),
  ),
);

function createSwitchSchema(choices: readonly string[]): Schema<string | undefined> {
  const read = withDefault(oneOf(choices), choices[0]);
  // YAML reads 409 as a number.
  return (value, path) => read(typeof value === "number" ? String(value) : value, path);
}

/** Parses switches and adds the defaults. Throws `invalid_option` on an unknown name or value. */
export function parseSwitches(input: unknown = {}): Switches {
  return readOptions(SWITCHES_SCHEMA, input, "switches") as Switches;
}
