import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { encodeEvent } from "../../src/wire/framing/eventstream-format.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const STREAM_BYTES = 100 * 1024 * 1024;
const ROUNDS = 3;
const READERS = ["spanline", "aws-sdk", "bare"] as const;

/** Peak memory of a process which reads a turn of 100 MB and stores none of it [AC-99]. */
export async function measureMemory(): Promise<Row> {
  const measured = [];
  for (const reader of READERS) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measurePeak(reader));
    measured.push({ name: READER_NAMES[reader], rounds });
  }
  const [spanline = Number.NaN, aws = Number.NaN, bare = Number.NaN] = measured.map(({ rounds }) =>
    computeMedian(rounds),
  );
  return {
    title: "peak memory of a reader of 100 MB, as fast as loopback gives them",
    unit: "MB RSS",
    measured,
    growth: [],
    ratios: [
      { text: "spanline, MB", value: spanline, target: 80, bound: "at most" },
      { text: "spanline ÷ AWS SDK client", value: spanline / aws, target: 1, bound: "at most" },
      {
        text: "spanline ÷ bare node:http",
        value: spanline / bare,
        target: 1.25,
        bound: "at most",
      },
    ],
  };
}

const READER_NAMES = {
  spanline: "spanline",
  "aws-sdk": "AWS SDK client",
  bare: "bare node:http, bytes thrown away",
} as const;

async function measurePeak(reader: (typeof READERS)[number]): Promise<number> {
  const frame = encodeEvent("metadata", { usage: { inputTokens: 1, outputTokens: 1 } });
  const block = Buffer.concat(Array.from({ length: 512 }, () => frame));
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    response.write(encodeEvent("messageStart", { role: "assistant" }));
    let sent = 0;
    const send = (): void => {
      while (sent < STREAM_BYTES) {
        sent += block.length;
        if (!response.write(block)) return;
      }
      response.end(encodeEvent("messageStop", { stopReason: "end_turn" }));
    };
    response.on("drain", send);
    send();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const program = join(import.meta.dirname, "../programs/memory-reader.js");
  const child = fork(program, [reader, `http://127.0.0.1:${port}`], {
    execArgv: ["--no-warnings"],
  });
  const [peak] = await once(child, "message");
  server.closeAllConnections();
  server.close();
  return Number(peak) / 1024;
}
