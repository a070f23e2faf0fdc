import { describe, expect, it } from "vitest";
import type { Envelope } from "../../domain/events/envelope.ts";
import { decodeLiveFrame } from "./decode-live-frame.ts";
import { encodeLiveFrame, LiveEventEncoder } from "./encode-live-frame.ts";
import type { EventsFrame, LiveFrame } from "./live-frames.ts";

const error = { code: "not_found", message: "Gone", hint: "List the sessions" };

const FRAMES: readonly Exclude<LiveFrame, EventsFrame>[] = [
  {
    type: "ready",
    protocol: 1,
    principal: { id: "ada", rights: ["prompt", "approve"] },
    agents: ["demo"],
    version: "0.1.0",
    now: 1000,
  },
  { type: "live", id: "s", cursor: "k.3" },
  { type: "gap", id: "s", cursor: "k.3", error },
  { type: "ended", id: "s", error },
  { type: "attached", id: "s", clientId: "portal-1", role: "observer" },
  {
    type: "sessions",
    reset: true,
    sessions: [
      {
        sessionId: "ses_1",
        agent: "demo",
        principal: "ada",
        title: null,
        workingDirectory: "/home/ada",
        state: "waiting",
        createdAt: 1,
        updatedAt: 2,
        cursor: "k.3",
      },
    ],
    removed: ["ses_2"],
    complete: false,
  },
  {
    type: "inbox",
    reset: false,
    items: [
      {
        key: "ses_1/apr_1",
        sessionId: "ses_1",
        title: "A talk",
        agent: "demo",
        principal: "ada",
        requestedAt: 3,
        request: {
          type: "approval.requested",
          approvalId: "apr_1",
          question: "run",
          options: ["allow", "deny"],
          subjectId: "call_1",
          action: "run",
          input: { command: "ls" },
          deadline: 9,
        },
        votes: [{ principal: "bob", decision: "allow" }],
      },
    ],
    removed: [],
  },
  { type: "refused", error },
  { type: "refused", id: "s", error },
  { type: "pong", id: 4 },
];

function envelope(seq: number, title = `Title ${seq}`): Envelope {
  const event = { type: "session.title_changed", title } as const;
  return { sessionId: "ses_1", seq, at: seq, visibility: "public", event };
}

describe("Frames of /api/live", () => {
  it.each(FRAMES)("A frame is decoded as it was encoded: %j", (frame) => {
    expect(decodeLiveFrame(encodeLiveFrame(frame))).toEqual({ ok: true, frame });
  });

  it.each(FRAMES)(
    "A frame without one of its fields is invalid, or lacks only this field: %j",
    (frame) => {
      for (const name of Object.keys(frame)) {
        const { [name]: _, ...rest }: { readonly [field: string]: unknown } = { ...frame };
        const decoded = decodeLiveFrame(JSON.stringify(rest));
        expect(decoded.ok ? decoded.frame : decoded.problem.kind).toEqual(
          decoded.ok ? rest : "invalid",
        );
      }
    },
  );

  it.each(["{", "7", "[]", '{"type":3}', new Uint8Array(2), undefined])(
    "A message that is not an object with a type is invalid: %j",
    (data) => {
      expect(decodeLiveFrame(data)).toMatchObject({ ok: false, problem: { kind: "invalid" } });
    },
  );

  it("A frame of a newer server is reported as unknown, and its event becomes provider.unknown", () => {
    expect(decodeLiveFrame('{"type":"usage","id":"s"}')).toMatchObject({
      ok: false,
      problem: { kind: "unknown", id: "s" },
    });
    const event = { type: "moon.landed", crew: 2 };
    const events = [{ ...envelope(1), event }];
    const text = JSON.stringify({ type: "events", id: "s", cursor: "k.1", events });
    expect(decodeLiveFrame(text)).toMatchObject({
      ok: true,
      frame: { events: [{ seq: 1, event: { type: "provider.unknown", name: "moon.landed" } }] },
    });
  });
});

describe("Frames of events", () => {
  it("Events are encoded in frames of bounded length, each with the cursor of its last event", () => {
    const encoder = new LiveEventEncoder();
    const long = "x".repeat(90_000);
    const events = [
      envelope(1, long),
      envelope(2, long),
      { ...envelope(3), visibility: "internal" as const },
      envelope(4, "x".repeat(300_000)),
      envelope(5),
    ];
    const frames = [...encoder.encode("s", { incarnation: "k", events })];
    const decoded = frames.map(({ text }) => decodeLiveFrame(text));
    const seqs = decoded.map((result) =>
      result.ok && result.frame.type === "events"
        ? [result.frame.cursor, ...result.frame.events.map(({ seq }) => seq)]
        : result,
    );
    expect(seqs).toEqual([
      ["k.1", 1],
      ["k.2", 2],
      ["k.4", 4],
      ["k.5", 5],
    ]);
    expect([...encoder.encode("s", { incarnation: "k", events: [] })]).toEqual([]);
  });

  it("The JSON of an event is created once for all readers", () => {
    const encoder = new LiveEventEncoder();
    let count = 0;
    const countedEnvelope = { ...envelope(1), toJSON: () => ({ ...envelope(1), count: ++count }) };
    const frames = ["a", "b"].flatMap((id) => [
      ...encoder.encode(id, { incarnation: "k", events: [countedEnvelope, envelope(2)] }),
    ]);
    expect(frames).toHaveLength(2);
    expect(count).toBe(1);
  });
});
