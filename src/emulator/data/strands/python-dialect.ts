import type { FailStep, Step, UsageStep } from "../../brains/step.ts";
import type { Dialect } from "../turn/dialect.ts";
import { createStreamEventEncoder, type StreamEvent } from "../turn/stream-event-encoder.ts";
import { createTurnTranscript } from "../turn/turn-transcript.ts";
import { SSE_CONTENT_TYPE, type StrandsAgent } from "./strands-agent.ts";
import { createPythonAgentState } from "./python-agent-state.ts";
import { encodePythonMessage } from "./python-message.ts";
import {
  isUnserialisable,
  PythonRepr,
  formatPythonJson,
  formatPythonRepr,
  type PythonValue,
} from "./python-text.ts";

export interface PythonDialectOptions {
  /** True: the format before July 2025. */
  readonly ascii: boolean;
}

/**
 * The output of an app that passes on all events of a Strands agent in Python: each delta as a Converse event and
 * again as a repr with the whole agent state, each message, and a repr of the result. The shapes are those of the
 * recordings in `test/fixtures/strands`.
 */
export function createPythonDialect(agent: StrandsAgent, { ascii }: PythonDialectOptions): Dialect {
  const encodeStep = createStreamEventEncoder();
  const turnTranscript = createTurnTranscript();
  const state = createPythonAgentState(agent, ascii);
  let hasBegun = false;
  let inResults = false;
  /** True while a message waits for its usage, which arrives after the message and becomes part of it. */
  let isMessagePending = false;

  const line = (value: PythonValue): Uint8Array => encodeSseLine(serializePython(value, ascii));
  const begin = (): Uint8Array[] => {
    if (hasBegun) return [];
    hasBegun = true;
    return LOOP_START.map(line);
  };
  const message = (usage: UsageStep | null): Uint8Array[] => {
    isMessagePending = false;
    const last = turnTranscript.messages.at(-1);
    if (last === undefined) return [];
    const completeMessage = encodePythonMessage(
      last,
      ascii ? null : { usage, trackingId: agent.random.uuid() },
    );
    state.addMessage(completeMessage, usage, turnTranscript.reason);
    return [line({ message: completeMessage })];
  };
  const flush = (): Uint8Array[] => (isMessagePending ? message(null) : []);

  const results = (step: Step): Uint8Array[] => {
    if (step.type !== "stop") return [];
    inResults = false;
    state.startCycle();
    return [...message(null), ...CYCLE_START.map(line)];
  };

  return {
    contentType: SSE_CONTENT_TYPE,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [...begin(), encodePythonFailure(step, ascii)];
      const flushed = step.type === "start" ? flush() : [];
      turnTranscript.step(step);
      if (step.type === "start") inResults = step.role === "user";
      if (inResults) return [...flushed, ...results(step)];
      const chunks = encodeStep(step).flatMap((event) => [
        line({ event: encodePythonEvent(event) }),
        ...state.mergeEvent(step, event).map((merged) => line(merged)),
      ]);
      if (step.type === "stop") isMessagePending = true;
      const finished = step.type === "usage" && isMessagePending ? message(step) : [];
      return [...flushed, ...begin(), ...chunks, ...finished];
    },
    finish: () => [...begin(), ...flush(), line({ result: new PythonRepr(state.formatResult()) })],
    fail: (failure) => encodePythonFailure(failure, ascii),
  };
}

/** The events before the first model call. */
const LOOP_START = [{ init_event_loop: true }, { start: true }, { start_event_loop: true }];
/** The events before a model call after tool results. */
const CYCLE_START = [{ start: true }, { start: true }, { start_event_loop: true }];

/** `json.dumps`. A value without a JSON form becomes its repr, as a JSON string. */
function serializePython(value: PythonValue, ascii: boolean): string {
  return formatPythonJson(isUnserialisable(value) ? formatPythonRepr(value) : value, ascii);
}

function encodeSseLine(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}

const encoder = new TextEncoder();

function encodePythonFailure({ exception, message }: FailStep, ascii: boolean): Uint8Array {
  const stop = formatPythonJson({ force_stop: true, force_stop_reason: message }, ascii);
  const error = formatPythonJson(
    { error: message, error_type: exception, message: "An error occurred during streaming" },
    ascii,
  );
  return encoder.encode(`data: ${stop}\n\ndata: ${error}\n\n`);
}

/** Bedrock's order of keys, without members specific to Harness. Redacted reasoning is bytes here. */
function encodePythonEvent({ name, payload }: StreamEvent): {
  readonly [name: string]: PythonValue;
} {
  const { contentBlockIndex, ...rest } = payload as { readonly [name: string]: PythonValue };
  const { start, delta } = rest as { start?: PythonValue; delta?: PythonValue };
  const index = contentBlockIndex === undefined ? {} : { contentBlockIndex };
  if (start !== undefined) return { [name]: { start: dropToolUseType(start), ...index } };
  if (delta !== undefined) return { [name]: { delta: decodeRedacted(delta), ...index } };
  return { [name]: { ...rest, ...index } };
}

function dropToolUseType(start: PythonValue): PythonValue {
  const { toolUse } = start as { toolUse?: { toolUseId: string; name: string } };
  if (toolUse === undefined) return start;
  return { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } };
}

function decodeRedacted(delta: PythonValue): PythonValue {
  const { reasoningContent } = delta as { reasoningContent?: { redactedContent?: string } };
  const redacted = reasoningContent?.redactedContent;
  if (redacted === undefined) return delta;
  return { reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redacted, "base64")) } };
}
