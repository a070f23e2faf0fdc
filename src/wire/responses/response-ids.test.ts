import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSessionId } from "../../domain/events/log-position.ts";
import {
  formatCallId,
  findToolCallId,
  parseResponseId,
  formatResponseId,
  parseCallSession,
  parseItemSession,
} from "./response-ids.ts";
import { ITEM_PREFIXES, formatItemId } from "./items/item-id.ts";
import { findToolName, toWireName } from "./tool-name.ts";

const letters = "ABCXYZabcxyz0189_-".split("");
const anySessionId = fc
  .tuple(
    fc.constantFrom("A", "z", "0", "9"),
    fc.string({ unit: fc.constantFrom(...letters), minLength: 32, maxLength: 255 }),
  )
  .map(([first, rest]) => first + rest);
const anySeq = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe("Ids on the wire", () => {
  it("A response id contains its session and position, for any session id [OR-32]", () => {
    fc.assert(
      fc.property(anySessionId, anySeq, (sessionId, seq) => {
        expect(isSessionId(sessionId)).toBe(true);
        expect(parseResponseId(formatResponseId({ sessionId, seq }))).toEqual({ sessionId, seq });
      }),
    );
  });

  it("An item id contains its session, for every item type [OR-6, OR-32]", () => {
    const anyType = fc.constantFrom(
      ...(Object.keys(ITEM_PREFIXES) as (keyof typeof ITEM_PREFIXES)[]),
    );
    const anyKey = fc.oneof(
      anySeq.map(String),
      fc.tuple(anySeq, fc.nat()).map(([seq, block]) => `${seq}-${block}`),
    );
    fc.assert(
      fc.property(anySessionId, anyType, anyKey, (sessionId, type, key) => {
        expect(parseItemSession(formatItemId(type, sessionId, key))).toBe(sessionId);
      }),
    );
  });

  it("Tool call ids are unique, have at most 64 characters and contain the session if it fits [OR-32, OR-64]", () => {
    fc.assert(
      fc.property(
        anySessionId,
        fc.uniqueArray(fc.string(), { maxLength: 9 }),
        (sessionId, calls) => {
          const ids = calls.map((call) => formatCallId(sessionId, call));
          expect(new Set(ids).size).toBe(calls.length);
          expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
          expect(ids.map((id) => findToolCallId(id, sessionId, calls))).toEqual(calls);
          const named = sessionId.length <= 45 ? sessionId : null;
          expect(ids.every((id) => parseCallSession(id) === named)).toBe(true);
        },
      ),
    );
  });

  it("Session ids of other surfaces are valid", () => {
    const sessionId = "ses_01hz0000000000000000000000";
    expect(isSessionId(sessionId)).toBe(true);
    expect(parseResponseId(formatResponseId({ sessionId, seq: 3 }))).toEqual({ sessionId, seq: 3 });
    expect(formatCallId(sessionId, "tool_1")).toMatch(/^call_ses_01hz0{22}_[0-9a-v]{13}$/);
  });

  it.each([
    "",
    "resp_",
    "resp_68a1b2c3",
    "resp_abc_1",
    `resp_${"a".repeat(33)}_0`,
    `resp_${"a".repeat(33)}_x`,
    `msg_${"a".repeat(33)}_1`,
    `resp_${"a".repeat(33)}_99999999999999999`,
  ])("The foreign response id %s is not parsed", (id) => {
    expect(parseResponseId(id)).toBeNull();
  });

  it.each([
    "short",
    "a".repeat(257),
    "_".repeat(40),
    `${"a".repeat(40)}!`,
    `${"a".repeat(40)}\n`,
    "",
  ])("An invalid session id is rejected [OR-35]: %j", (id) => {
    expect(isSessionId(id)).toBe(false);
  });
});

describe("Tool names", () => {
  it("Valid tool names are unchanged, and other names are mapped to unique names [OR-64]", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 9 }), (names) => {
        const wire = names.map(toWireName);
        expect(wire.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
        expect(wire.map((name) => findToolName(name, names))).toEqual(names);
      }),
    );
    expect(toWireName("get_weather")).toBe("get_weather");
    expect(toWireName("fs/read")).toMatch(/^fs_read-[0-9a-v]{13}$/);
  });
});
