import { createRuntimeStream } from "../../src/wire/agentcore/runtime/runtime-stream.ts";
import { measure, computeMedian, type Subject } from "../measure.ts";
import type { Row } from "../report.ts";
import { splitChunks } from "../streams.ts";

const DELTAS = 200;

/** 10 MB of Strands SSE: each delta is repeated as an object dump which contains the whole conversation [AC-75]. */
export async function measureNoise(): Promise<Row> {
  const bytes = createStrandsTurn(DELTAS);
  const megabytes = bytes.length / 1e6;
  const measured = await measure([createSpanlineSubject(DELTAS), createParseAllSubject(DELTAS)], {
    units: megabytes,
  });
  const [spanline = 0, everything = 0] = measured.map(({ rounds }) => computeMedian(rounds));
  const growth = [];
  for (const times of [1, 4, 16]) {
    const deltas = (DELTAS / 8) * times;
    const units = createStrandsTurn(deltas).length / 1e6;
    const [result] = await measure([createSpanlineSubject(deltas)], { units, rounds: 5 });
    growth.push({ times, cost: computeMedian(result?.rounds ?? []) });
  }
  return {
    title: `Strands SSE, ${megabytes.toFixed(1)} MB of repeated noise`,
    unit: "µs CPU/MB",
    measured,
    growth,
    ratios: [
      {
        text: "parse everything ÷ spanline",
        value: everything / spanline,
        target: 12,
        bound: "at least",
      },
    ],
  };
}

function createSpanlineSubject(deltas: number): Subject {
  const chunks = splitChunks(createStrandsTurn(deltas));
  return {
    name: "spanline, bytes to events",
    run() {
      const codec = createRuntimeStream();
      const state = codec.initial();
      let text = "";
      const emit = (event: { readonly type: string; readonly text?: string }): void => {
        if (event.type === "text.delta") text += event.text;
      };
      for (const chunk of chunks) codec.step(state, chunk, emit);
      codec.finish(state, emit);
      if (text.length !== 5 * deltas) throw new Error(`read ${text.length} characters`);
    },
  };
}

/** A reader without knowledge of the relevant lines: decodes, splits and parses everything. */
function createParseAllSubject(deltas: number): Subject {
  const chunks = splitChunks(createStrandsTurn(deltas));
  return {
    name: "TextDecoder, split, JSON.parse of every line",
    run() {
      const decoder = new TextDecoder();
      let partialLine = "";
      let text = "";
      for (const chunk of chunks) {
        const lines = (partialLine + decoder.decode(chunk, { stream: true })).split("\n");
        partialLine = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          const value = JSON.parse(line.slice(6)) as {
            event?: { contentBlockDelta?: { delta: { text: string } } };
          };
          if (typeof value === "object") text += value.event?.contentBlockDelta?.delta.text ?? "";
        }
      }
      if (text.length !== 5 * deltas) throw new Error(`read ${text.length} characters`);
    },
  };
}

/** The second cycle of a turn, after a tool returned 50 KB which every later dump repeats. */
function createStrandsTurn(deltas: number): Uint8Array {
  const result = "The quick brown fox. ".repeat(2400);
  const history = `[{'role': 'user', 'content': [{'toolResult': {'toolUseId': 'tooluse_1', 'status': 'success', 'content': [{'text': '${result}'}]}}]}]`;
  const line = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (text: string): string =>
    line({ event: { contentBlockDelta: { delta: { text }, contentBlockIndex: 0 } } }) +
    line(
      `{'data': '${text}', 'delta': {'text': '${text}'}, 'agent': <strands.agent.agent.Agent object at 0xffff8a4eb230>, ` +
        `'event_loop_cycle_id': UUID('ffe68ef9-dc65-4d6d-90f1-303202bd0c99'), 'messages': ${history}, 'request_state': {}}`,
    );
  const text = Array.from({ length: deltas }, (_, index) => `w${String(index).padStart(3, "0")} `);
  return Buffer.from(
    line({ init_event_loop: true }) +
      line({ start_event_loop: true }) +
      line({ event: { messageStart: { role: "assistant" } } }) +
      text.map(delta).join("") +
      line({ event: { contentBlockStop: { contentBlockIndex: 0 } } }) +
      line({ event: { messageStop: { stopReason: "end_turn" } } }) +
      line({ message: { role: "assistant", content: [{ text: text.join("") }] } }),
  );
}
