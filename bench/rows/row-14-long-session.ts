import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { startListening } from "../start-gateway.ts";
import type { LongSession } from "../programs/long-session.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const LENGTHS = [10, 100, 1000, 5000];

/** The cost of another turn, and of opening a session, by the number of turns in the session. */
export async function measureLongSession(): Promise<Row> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(STREAM_CHUNKS);
    });
  });
  server.keepAliveTimeout = 120_000;
  const url = await startListening(server);
  const sessions: LongSession[] = [];
  try {
    for (const turns of LENGTHS) sessions.push(await runLongSession(turns, `${url}/v1`));
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const [shortest, longest] = [sessions[0], sessions.at(-1)];
  if (shortest === undefined || longest === undefined) throw new Error("No session was measured");
  const sending = computeMedian(longest.bare) - computeMedian(shortest.bare);
  return {
    title: "one more turn of a local agent in a session of many turns",
    unit: "ms CPU",
    measured: [
      ...sessions.map(({ turns, turn, requestBytes }) => ({
        name: `turn at ${turns} turns, request of ${(requestBytes / 1000).toFixed(0)} KB`,
        rounds: turn,
      })),
      ...sessions.map(({ turns, bare }) => ({
        name: `the same request alone at ${turns}`,
        rounds: bare,
      })),
      ...sessions.map(({ turns, openFromLog }) => ({
        name: `open + turn at ${turns}, from the log`,
        rounds: [openFromLog],
      })),
      ...sessions.map(({ turns, openFolded }) => ({
        name: `open + turn at ${turns}, from folded history`,
        rounds: [openFolded],
      })),
    ],
    growth: [],
    ratios: [
      {
        text: `turn at ${longest.turns} ÷ at ${shortest.turns}, without the bytes sent`,
        value: (computeMedian(longest.turn) - sending) / computeMedian(shortest.turn),
        target: 1.3,
        bound: "at most",
      },
    ],
  };
}

async function runLongSession(turns: number, url: string): Promise<LongSession> {
  const program = join(import.meta.dirname, "../programs/long-session.js");
  const child = fork(program, [String(turns), url], { execArgv: ["--no-warnings"] });
  const [result] = await once(child, "message");
  await once(child, "exit");
  return result as LongSession;
}

const STREAM_CHUNKS = [
  { choices: [{ index: 0, delta: { role: "assistant", content: "" } }] },
  ...Array.from({ length: 5 }, () => ({
    choices: [{ index: 0, delta: { content: "Some words of a response that says something. " } }],
  })),
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
]
  .map((chunk) => `data: ${JSON.stringify({ id: "chatcmpl-bench", ...chunk })}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");
