import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ConnectionReset,
  type EmulatorResponse,
} from "../../src/emulator/service/service-types.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import { recordResponse } from "../../src/emulator/recording/record-response.ts";
import { readRecording, replayRecording } from "../../src/emulator/recording/recording.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { invoke, running, textIn } from "./start-data-plane.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spanline-recordings-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const never = new AbortController().signal;
const throwing = (error: unknown): never => {
  throw error;
};

describe("Recordings [AC-93]", () => {
  it("A recording stores a response byte for byte, with timestamps", async () => {
    const clock = createFakeClock();
    const path = join(folder(), "one.jsonl");
    const outgoing: EmulatorResponse = {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: (async function* () {
        yield new Uint8Array([0, 1, 255]);
        clock.advance(250);
        yield new Uint8Array([2]);
        clock.advance(50);
      })(),
    };
    const passed: number[] = [];
    const { body } = recordResponse(outgoing, {
      path,
      clock,
      disconnectSignal: never,
      onFailure: throwing,
    });
    for await (const bytes of body as AsyncIterable<Uint8Array>) passed.push(...bytes);
    expect(passed).toEqual([0, 1, 255, 2]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await readRecording(path)).toEqual({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      chunks: [
        { at: 0, bytes: Buffer.from([0, 1, 255]) },
        { at: 250, bytes: Buffer.from([2]) },
      ],
      endedAt: 300,
      end: "whole",
    });
  });

  it("A recording is replayed with or without its delays", async () => {
    const recording = {
      status: 200,
      headers: {},
      chunks: [
        { at: 0, bytes: new Uint8Array([1]) },
        { at: 250, bytes: new Uint8Array([2]) },
      ],
      endedAt: 300,
      end: "whole" as const,
    };
    const clock = createFakeClock();
    const times: number[] = [];
    const start = clock.now();
    const slow = replayRecording(recording, "recorded", clock).body as AsyncIterable<Uint8Array>;
    const read = (async () => {
      for await (const _ of slow) times.push(clock.now() - start);
      times.push(clock.now() - start);
    })();
    while (times.length < 3) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(50);
    }
    await read;
    expect(times).toEqual([0, 250, 300]);
    const fast: number[] = [];
    const full = replayRecording(recording, "full", clock).body as AsyncIterable<Uint8Array>;
    for await (const bytes of full) fast.push(...bytes);
    expect(fast).toEqual([1, 2]);
  });

  it("A recording of a reset connection is replayed as a reset", async () => {
    const recording = {
      status: 200,
      headers: {},
      chunks: [],
      endedAt: 0,
      end: "reset" as const,
    };
    const { body } = replayRecording(recording, "full", createFakeClock());
    const iterator = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toBeInstanceOf(ConnectionReset);
  });

  it("A recording of the emulator can be replayed by a script", async () => {
    const recordings = folder();
    const first = await running({
      recordings,
      script: "turns: [{answer: Hello there., faults: {drip: 50}}]",
    });
    const events = await invoke(first.client);
    const [file = ""] = readdirSync(recordings);
    const script = `turns: [{replay: ${join(recordings, file)}}]`;
    expect(await invoke((await running({ script })).client)).toEqual(events);
  });

  it("Any capture can be replayed, with a path relative to the script", async () => {
    const capture = "examples/captures/support-turn.eventstream";
    const { client } = await running({ script: `turns: [{replay: {file: ${capture}}}]` });
    expect(textIn(await invoke(client))).toContain("Your trail shoes");
  });

  it("A recording that cannot be read is named in the error", async () => {
    const { client } = await running({ script: "turns: [{replay: /nowhere.jsonl}]" });
    await expect(invoke(client)).rejects.toMatchObject({
      name: "RuntimeClientError",
      message: expect.stringContaining("Cannot replay /nowhere.jsonl") as string,
    });
  });

  it.each([
    ["an invalid status", { status: 99, headers: {} }],
    ["a header of two lines", { status: 200, headers: { "content-type": "a\r\nb: c" } }],
    ["a header without a name", { status: 200, headers: { "": "a" } }],
  ])("A recording that cannot be sent is refused: %s", async (_, head) => {
    const path = join(folder(), "edited.jsonl");
    writeFileSync(path, `${JSON.stringify({ recording: 1, ...head })}\n`);
    await expect(readRecording(path)).rejects.toThrow(
      `Cannot replay ${path}: line 1 is not valid in a recording`,
    );
  });

  it("The type of a capture is detected from its first bytes", async () => {
    const fixtures = join(import.meta.dirname, "../fixtures/strands");
    const sse = await readRecording(join(fixtures, "py-tool-turn.sse"));
    const json = await readRecording(join(fixtures, "ts-json.json"));
    expect([sse.headers, json.headers]).toEqual([
      { "content-type": "text/event-stream" },
      { "content-type": "application/json" },
    ]);
    expect(sse.chunks[0]?.bytes).toEqual(readFileSync(join(fixtures, "py-tool-turn.sse")));
  });
});

describe("Folders that cannot be written", () => {
  it("A recordings folder that cannot be written is refused at the start, by its name", async () => {
    const file = join(folder(), "file");
    writeFileSync(file, "");
    for (const recordings of [join(file, "recordings"), "/proc/x/recordings"]) {
      await expect(emulate({ recordings })).rejects.toMatchObject({
        code: "invalid_option",
        message: expect.stringMatching(
          /^Cannot write recordings to .*\/recordings: .* Fix: use a writable folder$/,
        ) as string,
      });
    }
  });

  it("A recordings folder that becomes unwritable is reported once and breaks no turn", async () => {
    const recordings = folder();
    const bugs: unknown[] = [];
    const { client } = await running({
      recordings,
      script: "repeat: true\nturns: [{answer: Hello.}]",
      onBug: (error) => bugs.push(error),
    });
    await invoke(client);
    expect(readdirSync(recordings)).toHaveLength(1);
    rmSync(recordings, { recursive: true });
    expect(textIn(await invoke(client))).toBe("Hello.");
    expect(textIn(await invoke(client))).toBe("Hello.");
    expect(bugs).toMatchObject([
      { message: expect.stringContaining(`Cannot write a recording in ${recordings}: `) as string },
    ]);
  });
});
