import { fork } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";
import { crc32 } from "node:zlib";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextTurn,
} from "../support/server/scripted-peer.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

const MEGABYTE = 1024 * 1024;
const FLOOD_BYTES = 100 * MEGABYTE;

interface Measured {
  readonly baseline: number;
  /** Bytes while the reader was paused. */
  readonly paused: number;
  /** Bytes at the end. */
  readonly arrayBuffers: number;
  readonly events: number;
  readonly outcome: string;
}

/** Runs the reader in a separate process, because the memory of the test process is not meaningful. */
async function measured(
  url: string,
  mode: "pause" | "read",
  onPaused: () => Promise<void> = async () => {},
): Promise<Measured> {
  const child = fork(await bundleProgram("read-slowly.ts"), [url, mode], { silent: true });
  child.once("message", () => {
    void onPaused().then(() => child.send("go on"));
  });
  const [output] = await Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    once(child, "exit"),
  ]);
  return JSON.parse(output);
}

/**
 * Sends frames as fast as the reader accepts them. `stalled` resolves when the reader accepts no more, and fails if the
 * reader has accepted half of the flood by then.
 */
function flood(response: ServerResponse, frame: Buffer): { stalled(): Promise<void> } {
  const [start, ...end] = encodeTextTurn("");
  startEventStream(response);
  response.write(start);
  const block = Buffer.concat(
    Array.from({ length: Math.ceil(65_536 / frame.length) }, () => frame),
  );
  let sent = 0;
  let drains = 0;
  const send = (): void => {
    drains += 1;
    while (sent < FLOOD_BYTES) {
      sent += block.length;
      if (!response.write(block)) return;
    }
    response.end(Buffer.concat(end.slice(1)));
  };
  response.on("drain", send);
  send();
  return {
    // The kernel's buffers are full if nothing was accepted for many ticks.
    async stalled() {
      for (let turns = 0, seen = drains; turns < 5000; turns++) {
        if (seen !== drains) turns = 0;
        seen = drains;
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      expect(sent).toBeLessThan(FLOOD_BYTES / 2);
    },
  };
}

describe("Memory of stream readers", () => {
  it("A paused reader's memory grows by less than 8 MB while a server floods 100 MB [AC-69]", async () => {
    let flooding: ReturnType<typeof flood> | undefined;
    const peer = await startPeer((response) => {
      flooding = flood(
        response,
        encodeAwsFrame("metadata", {
          usage: { inputTokens: 1, outputTokens: 1 },
          p: "x".repeat(4000),
        }),
      );
    });
    const { baseline, paused, outcome, events } = await measured(peer.url, "pause", async () => {
      await flooding?.stalled();
    });
    expect((paused - baseline) / MEGABYTE).toBeLessThan(8);
    // All events arrive after the reader resumes.
    expect(outcome).toBe("completed");
    expect(events).toBeGreaterThan(20_000);
  });

  it("A false length prefix does not allocate memory [AC-5]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      const frame = encodeAwsFrame("messageStart", { role: "assistant" });
      response.write(frame);
      // The prefix claims 4 GB and has a valid checksum.
      const prelude = Buffer.alloc(12);
      prelude.writeUInt32BE(0xff_ff_ff_f0, 0);
      prelude.writeUInt32BE(0, 4);
      prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
      response.end(prelude);
    });
    const { arrayBuffers, outcome } = await measured(peer.url, "read");
    expect(outcome).toBe("frame_too_large");
    expect(arrayBuffers / MEGABYTE).toBeLessThan(1);
  });
});
