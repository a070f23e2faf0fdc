import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../src/domain/codec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { isObject } from "../../src/data/json.ts";
import { parseItemSession } from "../../src/wire/responses/response-ids.ts";
import { createUnrecordedRequest } from "../../src/wire/responses/recorded-request.ts";
import { TRACE_MODES, type TraceMode } from "../../src/domain/responses-settings.ts";
import {
  foldResponse,
  createResponseStream,
} from "../../src/wire/responses/stream/response-stream.ts";
import type { StreamEvent } from "../../src/wire/responses/stream/response-stream-event.ts";
import { anyDisorder, anyTurn, SESSION } from "./any-turn.ts";
import { eventProblems } from "./open-responses-schema.ts";
import { violationsIn } from "./stream-checker.ts";
import { allowLongTests, runs } from "../support/test-depth.ts";

allowLongTests();

function recordedAs(trace: TraceMode, clientTools: readonly string[] = []) {
  return { ...createUnrecordedRequest("demo"), trace, clientTools };
}

function streamOf(log: readonly Envelope[], trace: TraceMode): StreamEvent[] {
  return runCodec(createResponseStream(recordedAs(trace, ["weather"])), log);
}

function lastResponse(events: readonly StreamEvent[]) {
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) throw new Error("The stream has no end");
  return last.response;
}

const anyMode = fc.constantFrom(...TRACE_MODES);

describe("The stream of a response", () => {
  it("The stream of any log breaks no stream rule [OR-6, OR-9, OR-11, OR-12, OR-13, OR-14, OR-15, OR-16, OR-17]", () => {
    fc.assert(
      fc.property(fc.oneof(anyDisorder, anyTurn), anyMode, (log, trace) => {
        const events = streamOf(log, trace);
        expect(violationsIn(events)).toEqual([]);
        const ids = lastResponse(events).output.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.every((id) => parseItemSession(id) === SESSION)).toBe(true);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("The stream of any log has only events of the specification [OR-1, OR-7, OR-24, OR-25]", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyDisorder, anyTurn),
        fc.constantFrom<TraceMode>("pairs", "none"),
        (log, trace) => {
          expect(streamOf(log, trace).flatMap(eventProblems)).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("Completed tool calls in the stream of any log have arguments that can be parsed [OR-8]", () => {
    fc.assert(
      fc.property(anyDisorder, anyMode, (log, trace) => {
        for (const item of lastResponse(streamOf(log, trace)).output) {
          if (item.type !== "function_call" || item.status !== "completed") continue;
          expect(isObject(JSON.parse(item.arguments))).toBe(true);
        }
      }),
    );
  });

  it("A stream ends with the same response that a request without streaming gets [OR-17, OR-18]", () => {
    fc.assert(
      fc.property(anyTurn, anyMode, (log, trace) => {
        const streamed = lastResponse(streamOf(log, trace));
        expect(foldResponse(log, recordedAs(trace, ["weather"]))).toEqual(streamed);
      }),
    );
  });

  it("A log without deltas produces the same items with the same ids [OR-6]", () => {
    const isDelta = ({ event }: Envelope) => event.type.endsWith(".delta");
    fc.assert(
      fc.property(anyTurn, anyMode, (log, trace) => {
        const keptEvents = log.filter((envelope) => !isDelta(envelope));
        const { output } = lastResponse(streamOf(log, trace));
        expect(lastResponse(streamOf(keptEvents, trace)).output).toEqual(output);
        expect(violationsIn(streamOf(keptEvents, trace))).toEqual([]);
      }),
    );
  });

  it("The stream of a log that stops early never ends as completed [OR-26]", () => {
    fc.assert(
      fc.property(anyTurn, fc.nat(), (log, cut) => {
        const begun = log.slice(0, 1 + (cut % (log.length - 1)));
        const { status, error, output } = lastResponse(streamOf(begun, "pairs"));
        expect([status, error?.code]).toEqual(["failed", "incomplete_turn"]);
        expect(output.every((item) => item.status !== undefined)).toBe(true);
      }),
    );
  });

  it("The stream keeps the agent's text in order", () => {
    fc.assert(
      fc.property(anyTurn, (log) => {
        const loggedText = log
          .flatMap(({ event }) => (event.type === "text.finished" ? [event.text] : []))
          .join("");
        const responseText = lastResponse(streamOf(log, "pairs"))
          .output.flatMap((item): readonly { readonly text: string }[] =>
            item.type === "message" ? item.content : [],
          )
          .map(({ text }) => text)
          .join("");
        const plain = (text: string) => text.replaceAll(/\s/g, "");
        expect(plain(responseText)).toBe(plain(loggedText));
      }),
    );
  });
});
