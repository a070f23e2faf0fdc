import { encodeEvent, encodeException } from "../../../wire/framing/eventstream-format.ts";
import { createSeededRandom, type SeededRandom } from "../../brains/seeded-random.ts";
import type { FailStep } from "../../brains/step.ts";
import type { Faults } from "../../faults.ts";
import type { Switches } from "../../switches.ts";
import type { Dialect } from "./dialect.ts";
import { createStreamEventEncoder, type StreamEvent } from "./stream-event-encoder.ts";

export const EVENT_STREAM = "application/vnd.amazon.eventstream";

/** Encodes steps as event-stream frames of InvokeHarness. */
export function createHarnessDialect(switches: Switches, faults: Faults = {}): Dialect {
  const encodeStep = createStreamEventEncoder(faults);
  const maxPadding = faults.padding ?? (switches.padding === "on" ? DEFAULT_PADDING : 0);
  const random = createSeededRandom("padding");
  let inResults = false;
  return {
    contentType: EVENT_STREAM,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [encodeHarnessFailure(step)];
      if (step.type === "start") inResults = step.role === "user";
      const hidden = inResults && switches.serverToolResults === "hidden";
      const closesResults = inResults && step.type === "stop";
      if (closesResults) inResults = false;
      const isDefault = closesResults && step.reason === "tool_result";
      const events = encodeStep(isDefault ? { ...step, reason: switches.serverToolStop } : step);
      return hidden ? [] : events.map((event) => encodePaddedFrame(event, maxPadding, random));
    },
    finish: () => [],
    fail: encodeHarnessFailure,
    ...(switches.keepAlive === "on" ? { keepAlive: KEEP_ALIVE } : {}),
  };
}

export function encodeHarnessFailure({ exception, message, members }: FailStep): Uint8Array {
  return encodeException(exception, { message, ...members });
}

function encodePaddedFrame(
  { name, payload }: StreamEvent,
  maxPadding: number,
  random: SeededRandom,
): Uint8Array {
  if (maxPadding === 0) return encodeEvent(name, payload);
  const p = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const length = random.between(1, maxPadding);
  return encodeEvent(name, {
    ...payload,
    p: p.repeat(Math.ceil(length / p.length)).slice(0, length),
  });
}

const DEFAULT_PADDING = 61;

const KEEP_ALIVE = { milliseconds: 15_000, frame: encodeEvent("keepAlive", {}) };
