import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../data/json.ts";
import { decodeReminder } from "./decode-reminder.ts";
import { decodeRequest } from "./decode-request.ts";

function codeOf(spec: JsonObject): unknown {
  const decoded = decodeReminder({ body: "x", ...spec });
  return decoded.ok ? "accepted" : Object(decoded.error.data)["code"];
}

describe("decodeReminder", () => {
  it("A reminder with only a body gets the defaults, and reaches the model [B-182] [W-17] [R-039] [R-040]", () => {
    expect(decodeReminder({ body: "Read it again" })).toEqual({
      ok: true,
      value: {
        reminder: {
          body: "Read it again",
          tags: [],
          mode: "finish_step",
          roleHint: "system",
          authority: "contract",
          source: "bridge",
          propagate: "session",
        },
      },
    });
  });

  it("All keys of a reminder are read, and repeated tags are dropped [B-180] [B-188] [R-037]", () => {
    const meta = { harn: { origin: "file-watcher", prio: 1 } };
    expect(
      decodeReminder({
        _meta: meta,
        authority: "advisory",
        body: "Read it again",
        dedupe_key: "k",
        fired_at_turn: 0,
        goal_pin: true,
        id: "reminder-1",
        mode: "audit_only",
        preserve_on_compact: true,
        propagate: "all",
        role_hint: "developer",
        source: "bridge",
        tags: ["a", "b", "a"],
        ttl_turns: 3,
      }),
    ).toEqual({
      ok: true,
      value: {
        reminderId: "reminder-1",
        reminder: {
          metadata: meta,
          authority: "advisory",
          body: "Read it again",
          dedupeKey: "k",
          firedAtTurn: 0,
          goalPin: true,
          mode: "audit_only",
          preserveOnCompact: true,
          propagate: "all",
          roleHint: "developer",
          source: "bridge",
          tags: ["a", "b"],
          ttlTurns: 3,
        },
      },
    });
  });

  it.each<JsonObject>([
    { body: "" },
    { body: " \n" },
    { body: 1 },
    { body: null },
    { body: "x".repeat(65_537) },
    { tags: "a" },
    { tags: ["a", ""] },
    { tags: [1] },
    { tags: Array.from({ length: 33 }, (_, index) => `${index}`) },
    { tags: ["x".repeat(101)] },
    { ttl_turns: 0 },
    { ttl_turns: -1 },
    { ttl_turns: 1.5 },
    { ttl_turns: "2" },
    { fired_at_turn: -1 },
    { role_hint: "assistant" },
    { authority: "law" },
    { mode: "steer" },
    { source: "stdlib_provider" },
    { preserve_on_compact: "yes" },
    { goal_pin: 1 },
    { dedupe_key: "" },
    { dedupe_key: "x".repeat(201) },
    { id: 5 },
    { id: "x".repeat(201) },
    { _meta: [] },
    { _meta: { text: "x".repeat(16_384) } },
  ])("A reminder with %j is malformed [B-186] [R-038]", (spec) => {
    expect(codeOf(spec)).toBe("HARN-RMD-002");
  });

  it("The key content is refused with a note to use body [B-186]", () => {
    const decoded = decodeReminder({ content: "x" });
    expect(decoded).toMatchObject({
      ok: false,
      error: { code: -32602, message: expect.stringContaining('use "body"') },
    });
    expect(codeOf({ content: "x" })).toBe("HARN-RMD-002");
  });

  it("An unknown key and an unknown propagation have codes of their own [B-187] [R-047]", () => {
    expect(codeOf({ dedupeKey: "k" })).toBe("HARN-RMD-001");
    expect(codeOf({ ["__proto__x"]: 1 })).toBe("HARN-RMD-001");
    expect(codeOf({ propagate: "some" })).toBe("HARN-RMD-005");
    expect(codeOf({ _meta: { dedupeKey: "k" } })).toBe("accepted");
  });

  it("An unknown key without a similar one gets the advice to use _meta", () => {
    expect(decodeReminder({ body: "x", ticket: 7 })).toMatchObject({
      error: { message: expect.stringContaining("Fix: put data of the host under `_meta`") },
    });
    expect(decodeReminder({ body: "x", dedupe_kye: "k" })).toMatchObject({
      error: { message: expect.stringContaining('Fix: did you mean "dedupe_key"?') },
    });
  });

  it("A long unknown key is not repeated in full [B-187]", () => {
    const decoded = decodeReminder({ body: "x", ["k".repeat(5000)]: 1 });
    expect(decoded.ok ? 0 : decoded.error.message.length).toBeLessThan(300);
  });
});

describe("session/remind", () => {
  it("A reminder may be nested under the key reminder, with its mode on either level [B-180]", () => {
    for (const params of [
      { sessionId: "s", mode: "audit_only", reminder: { body: "x" } },
      { sessionId: "s", reminder: { body: "x", mode: "audit_only" } },
      { sessionId: "s", body: "x", mode: "audit_only" },
    ])
      expect(decodeRequest("session/remind", params)).toMatchObject({
        ok: true,
        value: { sessionId: "s", command: { reminder: { body: "x", mode: "audit_only" } } },
      });
  });

  it("A key given both in the nested reminder and on the request is refused, except _meta [B-186]", () => {
    const nested = { body: "x", mode: "audit_only", _meta: { a: 1 } };
    const decode = (fields: JsonObject) =>
      decodeRequest("session/remind", { sessionId: "s", reminder: nested, ...fields });
    expect(decode({ body: "y" })).toMatchObject({
      ok: false,
      error: {
        data: { code: "HARN-RMD-002", reason: '"body" is given twice, once in "reminder"' },
      },
    });
    expect(decode({ mode: "finish_step" })).toMatchObject({ ok: false });
    expect(decode({ _meta: { harn: { commandId: "c" } } })).toMatchObject({
      ok: true,
      value: { commandId: "c", command: { reminder: { metadata: { a: 1 } } } },
    });
  });

  it("A nested reminder that is not an object, or an unknown key beside it, is refused [B-186] [B-187]", () => {
    const codes = [
      { sessionId: "s", reminder: "x" },
      { sessionId: "s", reminder: { body: "x" }, prio: 1 },
      { sessionId: "s", reminder: { body: "x", sessionId: "t" } },
    ].map((params) => Object(Object(decodeRequest("session/remind", params)).error).data?.code);
    expect(codes).toEqual(["HARN-RMD-002", "HARN-RMD-001", "HARN-RMD-001"]);
  });
});
