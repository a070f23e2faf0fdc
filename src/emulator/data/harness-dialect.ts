import { encodeEvent, encodeException } from "../../wire/framing/eventstream-encode.ts";
import { seededRandom, type Random } from "../brains/random.ts";
import type { FailStep } from "../brains/step.ts";
import type { Faults } from "../faults.ts";
import type { Switches } from "../switches.ts";
import type { Dialect } from "./dialect.ts";
import { streamEvents, type StreamEvent } from "./stream-event.ts";

export const EVENT_STREAM = "application/vnd.amazon.eventstream";

/** Steps as the event-stream frames of InvokeHarness. */
export function harnessDialect(switches: Switches, faults: Faults = {}): Dialect {
  const eventsOf = streamEvents(faults);
  const most = faults.padding ?? (switches.padding === "on" ? PADDING : 0);
  const random = seededRandom("padding");
  let inResults = false;
  return {
    contentType: EVENT_STREAM,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [harnessFailure(step)];
      if (step.type === "start") inResults = step.role === "user";
      const hidden = inResults && switches.serverToolResults === "hidden";
      const closesResults = inResults && step.type === "stop";
      if (closesResults) inResults = false;
      const isDefault = closesResults && step.reason === "tool_result";
      const events = eventsOf(isDefault ? { ...step, reason: switches.serverToolStop } : step);
      return hidden ? [] : events.map((event) => frameOf(event, most, random));
    },
    finish: () => [],
    fail: harnessFailure,
    ...(switches.keepAlive === "on" ? { keepAlive: KEEP_ALIVE } : {}),
  };
}

export function harnessFailure({ exception, message, members }: FailStep): Uint8Array {
  return encodeException(exception, { message, ...members });
}

function frameOf({ name, payload }: StreamEvent, most: number, random: Random): Uint8Array {
  if (most === 0) return encodeEvent(name, payload);
  const p = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const length = random.between(1, most);
  return encodeEvent(name, {
    ...payload,
    p: p.repeat(Math.ceil(length / p.length)).slice(0, length),
  });
}

const PADDING = 61;

const KEEP_ALIVE = { milliseconds: 15_000, frame: encodeEvent("keepAlive", {}) };
