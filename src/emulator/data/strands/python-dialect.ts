import type { FailStep, Step, UsageStep } from "../../brains/step.ts";
import type { Dialect } from "../dialect.ts";
import { streamEvents, type StreamEvent } from "../stream-event.ts";
import { transcript } from "../transcript.ts";
import { SSE, type StrandsAgent } from "./agent.ts";
import { pythonAgentState } from "./python-agent-state.ts";
import { pythonMessage } from "./python-message.ts";
import {
  isUnserialisable,
  Printed,
  pythonJson,
  pythonRepr,
  type PythonValue,
} from "./python-text.ts";

export interface PythonEra {
  /** Before July 2025. */
  readonly ascii: boolean;
}

/**
 * What an app sends that passes on every event of a Strands agent in Python: each delta as a Converse event and once more
 * as a repr with the agent's whole state, each message as a whole, and a repr of the result. Shapes are those of the
 * recordings in `test/fixtures/strands`.
 */
export function pythonDialect(agent: StrandsAgent, { ascii }: PythonEra): Dialect {
  const eventsOf = streamEvents();
  const said = transcript();
  const state = pythonAgentState(agent, ascii);
  let began = false;
  let inResults = false;
  /** A message waits for its usage, which comes behind it and is a part of it. */
  let unsent = false;

  const line = (value: PythonValue): Uint8Array => sseLine(serialised(value, ascii));
  const begin = (): Uint8Array[] => {
    if (began) return [];
    began = true;
    return [
      line({ init_event_loop: true }),
      line({ start: true }),
      line({ start_event_loop: true }),
    ];
  };
  const message = (usage: UsageStep | null): Uint8Array[] => {
    unsent = false;
    const last = said.messages.at(-1);
    if (last === undefined) return [];
    const whole = pythonMessage(last, ascii ? null : { usage, trackingId: agent.random.uuid() });
    state.add(whole, usage, said.reason);
    return [line({ message: whole })];
  };
  const flush = (): Uint8Array[] => (unsent ? message(null) : []);

  const results = (step: Step): Uint8Array[] => {
    if (step.type !== "stop") return [];
    inResults = false;
    state.nextCycle();
    const cycle = [line({ start: true }), line({ start: true }), line({ start_event_loop: true })];
    return [...message(null), ...cycle];
  };

  return {
    contentType: SSE,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [...begin(), pythonFailure(step, ascii)];
      const before = step.type === "start" ? flush() : [];
      said.step(step);
      if (step.type === "start") inResults = step.role === "user";
      if (inResults) return [...before, ...results(step)];
      const chunks = eventsOf(step).flatMap((event) => [
        line({ event: pythonEvent(event) }),
        ...state.merged(step, event).map((merged) => line(merged)),
      ]);
      if (step.type === "stop") unsent = true;
      const after = step.type === "usage" && unsent ? message(step) : [];
      return [...before, ...begin(), ...chunks, ...after];
    },
    finish: () => [...begin(), ...flush(), line({ result: new Printed(state.result()) })],
    fail: (failure) => pythonFailure(failure, ascii),
  };
}

/** `json.dumps`, and of what has no JSON form the repr, as a JSON string. */
function serialised(value: PythonValue, ascii: boolean): string {
  return pythonJson(isUnserialisable(value) ? pythonRepr(value) : value, ascii);
}

function sseLine(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}

const encoder = new TextEncoder();

function pythonFailure({ exception, message }: FailStep, ascii: boolean): Uint8Array {
  const stop = pythonJson({ force_stop: true, force_stop_reason: message }, ascii);
  const error = pythonJson(
    { error: message, error_type: exception, message: "An error occurred during streaming" },
    ascii,
  );
  return encoder.encode(`data: ${stop}\n\ndata: ${error}\n\n`);
}

/** Bedrock's own order of keys, without the members that only Harness has; redacted reasoning is bytes here. */
function pythonEvent({ name, payload }: StreamEvent): { readonly [name: string]: PythonValue } {
  const { contentBlockIndex, ...rest } = payload as { readonly [name: string]: PythonValue };
  const { start, delta } = rest as { start?: PythonValue; delta?: PythonValue };
  const index = contentBlockIndex === undefined ? {} : { contentBlockIndex };
  if (start !== undefined) return { [name]: { start: untyped(start), ...index } };
  if (delta !== undefined) return { [name]: { delta: withBytes(delta), ...index } };
  return { [name]: { ...rest, ...index } };
}

function untyped(start: PythonValue): PythonValue {
  const { toolUse } = start as { toolUse?: { toolUseId: string; name: string } };
  if (toolUse === undefined) return start;
  return { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } };
}

function withBytes(delta: PythonValue): PythonValue {
  const { reasoningContent } = delta as { reasoningContent?: { redactedContent?: string } };
  const redacted = reasoningContent?.redactedContent;
  if (redacted === undefined) return delta;
  return { reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redacted, "base64")) } };
}
