import { describe, expect, it } from "vitest";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  HARNESS_ARN,
  invoke,
  reasonsIn,
  running,
  SESSION,
  textIn,
  type Running,
  type Setup,
} from "./start-data-plane.ts";

async function outcome(turn: string, setup: Setup = {}): Promise<object> {
  const emulator = await running({ script: `seed: 7\nturns:\n  - ${turn}\n`, ...setup });
  const seen = await invoke(emulator.client).then(
    (events) => ({ text: textIn(events), reasons: reasonsIn(events) }),
    (error: Error & { $fault?: string; code?: string }) => ({
      error: error.name,
      message: error.message,
      ...(error.code === undefined ? {} : { code: error.code }),
    }),
  );
  return { ...seen, attempts: emulator.requests() };
}

/** The raw HTTP response. */
function posted({ url }: Running, options: { session?: string; signal?: AbortSignal } = {}) {
  const { session = SESSION, ...rest } = options;
  const query = new URLSearchParams({ harnessArn: HARNESS_ARN });
  return fetch(`${url}/harnesses/invoke?${query.toString()}`, {
    method: "POST",
    headers: { "x-amzn-bedrock-agentcore-runtime-session-id": session },
    body: JSON.stringify({ messages: [{ role: "user", content: [{ text: "Hi" }] }] }),
    ...rest,
  });
}

async function rawBytes(emulator: Running, session = SESSION): Promise<Buffer> {
  const answer = await posted(emulator, { session });
  return Buffer.from(await answer.arrayBuffer());
}

const WHOLE = { text: "Hello there.", reasons: ["end_turn"], attempts: 1 };

describe("Scripted faults, as the unmodified AWS SDK sees them [AC-87]", () => {
  it.each<[string, string, object]>([
    ["drip: one byte in each write", "drip: 1", WHOLE],
    ["padding: a member p in every event", "padding: 300", WHOLE],
    ["blocks without their stops", "omit: [contentBlockStop]", WHOLE],
    ["a message without its stop", "omit: [messageStop]", { ...WHOLE, reasons: [] }],
    [
      "an exception as the first frame",
      "exception: {type: validationException, message: no, members: {reason: CannotParse}}",
      { error: "ValidationException", message: "no", attempts: 1 },
    ],
    [
      "an unmodelled exception, in the middle",
      "exception: {frame: 2, type: throttlingException, message: slow down}",
      { error: "throttlingException", message: '{"message":"slow down"}', attempts: 1 },
    ],
    [
      "an error frame",
      "error: {frame: 1, code: InternalError, message: broken}",
      { error: "InternalError", message: "broken", attempts: 1 },
    ],
    ["a frame without its message type", "untypedFrame: 1", { error: "TypeError" }],
    [
      "a flipped checksum",
      "flipFrame: 2",
      { message: expect.stringContaining("checksum") as string },
    ],
    [
      "an end inside a frame",
      "truncate: {frame: 2, bytes: 20}",
      { message: "Truncated event message received." },
    ],
    ["a length prefix of zero", "prefix: {frame: 1, length: 0}", { error: "RangeError" }],
    [
      "a reset in the middle",
      "resetAtByte: 200",
      { error: "Error", message: "aborted", code: "ECONNRESET", attempts: 1 },
    ],
    [
      "a reset before the first event, after which the SDK repeats the request twice",
      "resetAtByte: 5",
      { attempts: 3 },
    ],
  ])("The SDK sees a scripted fault: %s", async (_, faults, seen) => {
    const turn = `{when: hi, answer: Hello there., faults: {${faults}}}`;
    expect(await outcome(turn)).toMatchObject(seen);
  });

  it("On the wire, drip writes single bytes, padding adds a member, and omit removes a stop", async () => {
    const faulty = (faults: string): Promise<Running> =>
      running({ script: `turns: [{answer: Hello there., faults: {${faults}}}]` });
    const dripped = await posted(await faulty("drip: 1"));
    let longest = 0;
    for await (const chunk of dripped.body ?? []) longest = Math.max(longest, chunk.length);
    const whole = await rawBytes(await running({ script: "turns: [{answer: Hello there.}]" }));
    expect(longest).toBeLessThan(whole.length);
    expect((await rawBytes(await faulty("padding: 300"))).length).toBeGreaterThan(whole.length);
    const omitted = await rawBytes(await faulty("omit: [contentBlockStop]"));
    expect(omitted.includes("contentBlockStop")).toBe(false);
    expect(whole.includes("contentBlockStop")).toBe(true);
  });

  it("The padding switch pads every event", async () => {
    const emulator = await running({ switches: { padding: "on" } });
    expect((await rawBytes(emulator)).toString("latin1")).toContain('"p":"abc');
  });

  it("A script can fail with an exception at any step", async () => {
    const answer = "[Hello, {fail: {type: internalServerException, message: oops}}]";
    expect(await outcome(`{answer: ${answer}}`)).toEqual({
      error: "InternalServerException",
      message: "oops",
      attempts: 1,
    });
  });

  it("A length prefix of 4 GiB is written with a valid checksum", async () => {
    const emulator = await running({
      script: "turns: [{answer: Hi, faults: {prefix: {frame: 0, length: 0xfffffff0}}}]",
    });
    expect((await rawBytes(emulator)).readUInt32BE(0)).toBe(0xfffffff0);
  });

  it("A script can change the content type", async () => {
    const emulator = await running({
      script: "turns: [{answer: Hi, faults: {contentType: text/html}}]",
    });
    const answer = await posted(emulator);
    expect(answer.headers.get("content-type")).toBe("text/html");
  });

  it("A script can reuse a block index for two tool calls: {0,A},{0,B},{1,C}", async () => {
    const { client } = await running({
      script: `
turns:
  - answer: [{ call: a, id: A }, { call: b, id: B }, { call: c, id: C }]
    faults: { reuseIndex: true }
`,
    });
    const starts = (await invoke(client)).flatMap((event) =>
      event["contentBlockStart"] === undefined ? [] : [event["contentBlockStart"]],
    );
    expect(
      starts.map(({ contentBlockIndex, start }) => [
        contentBlockIndex,
        (start as { toolUse: { toolUseId: string } }).toolUse.toolUseId,
      ]),
    ).toEqual([
      [0, "A"],
      [0, "B"],
      [1, "C"],
    ]);
  });

  it.each([
    ["ServiceQuotaExceededException", 402, 1],
    ["AccessDeniedException", 403, 1],
    ["RuntimeClientError", 424, 1],
    ["ThrottlingException", 429, 3],
    ["InternalServerException", 500, 3],
  ])("A refusal before the stream has its HTTP status: %s", async (type, status, attempts) => {
    const emulator = await running({
      script: `turns: [{when: hi, refuse: {type: ${type}, message: no}}]`,
    });
    await expect(invoke(emulator.client)).rejects.toMatchObject({
      name: type,
      message: "no",
      $metadata: { httpStatusCode: status },
    });
    expect(emulator.requests()).toBe(attempts);
  });

  it("A refusal that the SDK retries leaves no trace in the session", async () => {
    const emulator = await running({
      script: `
turns:
  - refuse: { type: InternalServerException, message: once }
  - answer: Hello there.
`,
    });
    expect(textIn(await invoke(emulator.client))).toBe("Hello there.");
    expect(emulator.requests()).toBe(2);
  });

  it.each([
    ["frame", { error: "throttlingException", attempts: 1 }],
    ["wrapped", { error: "RuntimeClientError", attempts: 1 }],
  ])("Throttling inside the stream follows the switch: %s", async (throttlingInStream, seen) => {
    const turn = "{when: hi, refuse: {type: ThrottlingException, message: slow}}";
    expect(await outcome(turn, { switches: { throttlingInStream } })).toMatchObject(seen);
  });

  it("A silent stream sends neither further events nor an end", async () => {
    const clock = createFakeClock();
    const emulator = await running({
      clock,
      script: "turns: [{answer: Hello there., faults: {silenceAfter: 1}}]",
    });
    const leaving = new AbortController();
    const answer = await posted(emulator, { signal: leaving.signal });
    const reader = answer.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const more = reader?.read().then(
      () => "more",
      () => "left",
    );
    clock.advance(3_000_000);
    leaving.abort();
    expect(await more).toBe("left");
  });

  it("A flood towards a client that stops reading fills only the buffers", async () => {
    let answerCount = 0;
    const emulator = await running({
      brain: {
        respond: async () => ({
          type: "steps",
          steps: (function* () {
            yield { type: "start", role: "assistant" } as const;
            const text = "x".repeat(64 * 1024);
            for (; answerCount < 2000; answerCount++) yield { type: "text", text } as const;
          })(),
        }),
      },
    });
    const leaving = new AbortController();
    const answer = await posted(emulator, { signal: leaving.signal });
    await answer.body?.getReader().read();
    let before = -1;
    let quiet = 0;
    while (quiet < 2000) {
      quiet = answerCount === before ? quiet + 1 : 0;
      before = answerCount;
      await new Promise((resolve) => setImmediate(resolve));
    }
    leaving.abort();
    expect(answerCount).toBeLessThan(1000);
  });
});

describe("The seed of a script [AC-87]", () => {
  const script = (seed: number): string => `
seed: ${seed}
chunk: [1, 9]
turns:
  - when: hi
    answer:
      - text: The quick brown fox jumps over the lazy dog.
      - { call: tool, input: { a: 1 } }
    faults: { padding: [1, 80], truncate: { frame: [3, 9], bytes: [13, 40] } }
`;

  it("The same seed produces the same bytes in another session of another emulator", async () => {
    const first = await rawBytes(await running({ script: script(1) }));
    const second = await rawBytes(await running({ script: script(1) }), "b".repeat(40));
    expect(second.equals(first)).toBe(true);
  });

  it("Another seed produces other bytes", async () => {
    const first = await rawBytes(await running({ script: script(1) }));
    const second = await rawBytes(await running({ script: script(2) }));
    expect(second.equals(first)).toBe(false);
  });
});
